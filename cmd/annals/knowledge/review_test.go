package knowledge

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/servertest"
)

// reviewed lets a person press keys on the items that wait for a review. It returns what the terminal showed last.
func reviewed(t *testing.T, server *client.Client, keys string, edit func(string) string) string {
	t.Helper()
	var list []*Reviewed
	var page struct{ Items []*Reviewed }
	if _, err := server.Do(t.Context(), client.Get("v1", "reviews"), &page); err != nil {
		t.Fatal(err)
	}
	list = page.Items
	var out bytes.Buffer
	console := &terminal.Console{Styled: &out, Out: &out, Width: 80}
	r := Reviewer{
		Server: server, Screen: terminal.NewScreen(console, strings.NewReader(keys), 80, 30), List: list,
		Edit: func(_ context.Context, text string) (string, error) { return edit(text), nil },
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	screens := strings.Split(out.String(), "\x1b[2J")
	for _, screen := range screens {
		for line := range strings.SplitSeq(screen, "\r") {
			if width := ansi.StringWidth(strings.TrimPrefix(line, "\n")); width > 80 {
				t.Errorf("a line has %d columns: %s", width, line)
			}
		}
	}
	return screens[len(screens)-1]
}

func TestAPersonReviewsOneItemAfterTheOther(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		base := servertest.Open(t, db, events.Options{})
		running := httptest.NewServer(annalshttp.New(base.Config(t)).Handler())
		t.Cleanup(running.Close)
		server, err := client.New(client.Config{Server: running.URL})
		if err != nil {
			t.Fatal(err)
		}
		do := func(r client.Request) {
			t.Helper()
			if _, err := server.Do(t.Context(), r, nil); err != nil {
				t.Fatal(err)
			}
		}
		item := func(id string) (k api.Knowledge) {
			t.Helper()
			if _, err := server.Do(t.Context(), client.Get("v1", "knowledge", id), &k); err != nil {
				t.Fatal(err)
			}
			return k
		}
		for i := range 3 {
			content := "The deploy window. " + strings.Repeat("Long. ", 99)
			do(client.Post(api.Knowledge{ID: fmt.Sprint("a", i), Type: "plan", Content: content}, "v1", "knowledge"))
			do(client.Post(api.Reason{Reason: "it moved"}, "v1", "knowledge", fmt.Sprint("a", i), "stale"))
		}
		do(client.Post(api.Knowledge{ID: "new", Type: "plan", Content: "The new window."}, "v1", "knowledge"))
		same := func(text string) string { return text }

		if seen := reviewed(t, server, "?nnnq", same); !strings.Contains(seen, "3 of 3") || !strings.Contains(seen, "it moved") {
			t.Errorf("it shows\n%s", seen)
		}
		// confirmed; superseded with a reason after a cancelled attempt; forgotten, and that undone
		seen := reviewed(t, server, "cs\x03snew\rit moved\rdn\rdy\rgone\ruxq", same)
		if !strings.Contains(seen, "no such key") {
			t.Errorf("it shows\n%s", seen)
		}
		if item("a0").ConfirmedAt == nil || item("a1").SupersededBy != "new" || item("a2").Status != "active" {
			t.Errorf("the items are\n%+v\n%+v\n%+v", item("a0"), item("a1"), item("a2"))
		}
		// edited in an editor; u undoes it; what somebody else changed meanwhile is not
		reviewed(t, server, "enewer\rq", func(string) string { return "The window is Friday." })
		if got := item("a2").Content; got != "The window is Friday." {
			t.Errorf("the content is %q", got)
		}
		meddled := reviewed(t, server, "ewhy\rq", func(string) string {
			do(client.Request{
				Method: "PATCH", Path: []string{"v1", "knowledge", "a2"}, Body: map[string]string{"content": "theirs"},
			})
			return "mine"
		})
		if got := item("a2").Content; got != "theirs" || !strings.Contains(meddled, "somebody changed it") {
			t.Errorf("the content is %q, and it shows\n%s", got, meddled)
		}
	})
}

func TestAPairIsShownSideBySide(t *testing.T) {
	t.Parallel()
	var one Reviewed
	one.Item = &api.Knowledge{ID: "a", Content: "The deploy window is Tuesday from nine to five.", Owner: "user:mia"}
	one.Pair = &struct {
		Proposal string           `json:"proposal"`
		Kind     string           `json:"kind"`
		Items    []*api.Knowledge `json:"items"`
	}{Kind: "contradiction", Items: []*api.Knowledge{{ID: "b", Content: "部署窗口是星期五。", Owner: "user:ben"}}}
	var out bytes.Buffer
	one.show(&terminal.Console{Styled: &out, Width: 79})
	if want := "a                                      │ b\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is missing in\n%s", want, &out)
	}
}
