package knowledge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// reviewed lets a person press keys on the items that wait for a review. It returns what the terminal showed last.
func reviewed(t *testing.T, server *client.Client, keys string, edit func(string) string) string {
	t.Helper()
	list, err := listReviews(t.Context(), server, url.Values{}, 100)
	if err != nil {
		t.Fatal(err)
	}
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

// desk is a server whose items a person reviews.
type desk struct {
	t      *testing.T
	server *client.Client
}

func eachDesk(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		base := servertest.Open(t, db, events.Options{})
		running := httptest.NewServer(base.Config(t).New().Handler())
		t.Cleanup(running.Close)
		server, err := client.New(client.Config{Server: running.URL})
		if err != nil {
			t.Fatal(err)
		}
		test(t, &desk{t, server})
	})
}

func (d *desk) do(r client.Request) {
	d.t.Helper()
	if _, err := d.server.Do(d.t.Context(), r, nil); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) item(id string) (k api.Knowledge) {
	d.t.Helper()
	if _, err := d.server.Do(d.t.Context(), client.Get("v1", "knowledge", id), &k); err != nil {
		d.t.Fatal(err)
	}
	return k
}

// remember adds an item that says its id, and reports it stale.
func (d *desk) remember(ids ...string) {
	d.t.Helper()
	for _, id := range ids {
		d.do(client.Post(api.Knowledge{ID: id, Type: "plan", Content: "Says " + id + "."}, "v1", "knowledge"))
		d.do(client.Post(api.Reason{Reason: "it moved"}, "v1", "knowledge", id, "stale"))
	}
}

func (d *desk) patch(id string, change any) {
	d.t.Helper()
	d.do(client.Request{Method: "PATCH", Path: []string{"v1", "knowledge", id}, Body: change})
}

func TestAnUndoSparesWhatOthersDidSince(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.remember("a", "b")
		seen := reviewed(t, d.server, "e\rne\ruuq", func(text string) string {
			if text == "Says b." {
				d.patch("a", map[string]string{"content": "Theirs."})
			}
			return "Mine."
		})
		if a, b := d.item("a").Content, d.item("b").Content; a != "Theirs." || b != "Says b." {
			t.Errorf("a is %q, b is %q", a, b)
		}
		if !strings.Contains(seen, "somebody changed it") || !strings.Contains(seen, "Theirs.") {
			t.Errorf("it shows\n%s", seen)
		}
	})
}

func TestAMergeOfAPairIsOfWhatThePersonSaw(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.remember("a", "b", "z")
		d.do(client.Post(api.Confirmation{}, "v1", "knowledge", "a", "confirm")) // so b and z wait
		d.do(client.Post(
			api.NewProposal{Kind: "duplicate", Items: []string{"a", "b"}}, "v1", "reviews", "proposals",
		))
		edits := 0
		seen := reviewed(t, d.server, "M\rM\rq", func(text string) string {
			if edits++; edits == 1 {
				d.patch("a", map[string]string{"content": "Newer."})
			}
			return text
		})
		if b := d.item("b"); b.Content != "Says b.\n\nNewer." || d.item("a").SupersededBy != "b" ||
			!strings.Contains(seen, "kept b in place of a\r\nc confirm") {
			t.Errorf("b is %+v, and it shows\n%s", b, seen)
		}
	})
}

// steward is a transport to a server that lets nobody restore.
type steward struct{}

func (steward) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/restore") {
		return http.DefaultTransport.RoundTrip(r)
	}
	refused := httptest.NewRecorder()
	servertest.Refusing(http.StatusForbidden, `{"title":"No","detail":"it is another's"}`)(refused, r)
	return refused.Result(), nil
}

func TestAnUndoThatIsRefusedLeavesTheEarlierActs(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.remember("a", "b", "c")
		d.do(client.Post(api.Knowledge{ID: "new", Type: "plan", Content: "New."}, "v1", "knowledge"))
		server, err := client.New(client.Config{Server: d.server.Server(), Transport: steward{}})
		if err != nil {
			t.Fatal(err)
		}
		mine := func(string) string { return "Mine." }
		seen := reviewed(t, server, "snew\r\ruq", mine)
		if !strings.Contains(seen, "only the owner or an admin can restore it") {
			t.Errorf("it shows\n%s", seen)
		}
		seen = reviewed(t, server, "e\rnsnew\r\ruuq", mine)
		for _, id := range []string{"a", "b", "c"} {
			if d.item(id).Content == "Mine." {
				t.Errorf("%s was not undone, and it shows\n%s", id, seen)
			}
		}
	})
}

func TestAMergeIsUndoneUnlessAnotherFollowed(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.remember("a", "b", "y", "z")
		d.do(client.Post(api.Confirmation{}, "v1", "knowledge", "a", "confirm")) // so b and z wait
		d.do(client.Post(api.Confirmation{}, "v1", "knowledge", "y", "confirm"))
		d.do(client.Post(
			api.NewProposal{Kind: "duplicate", Items: []string{"a", "b"}}, "v1", "reviews", "proposals",
		))
		seen := reviewed(t, d.server, "\x1b[D\rum\re\ruuq", func(string) string { // meanwhile y is merged into b, too
			d.do(client.Post(api.Merge{Items: []string{"y"}}, "v1", "knowledge", "b", "merge"))
			return "Mine."
		})
		if d.item("a").SupersededBy != "b" || d.item("y").SupersededBy != "b" || d.item("z").Content != "Says z." {
			t.Errorf("a is %+v, y is %+v, and it shows\n%s", d.item("a"), d.item("y"), seen)
		}
	})
}

func TestAnItemThatOthersChangedIsShownAsItIsNow(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.remember("a")
		d.patch("a", map[string]any{"tags": map[string]string{"old": "x"}, "task": "deploying"})
		seen := reviewed(t, d.server, "e\rq", func(string) string {
			d.patch("a", map[string]any{"tags": map[string]any{"old": nil, "new": "y"}, "task": nil})
			return "Mine."
		})
		if !strings.Contains(seen, "new") || strings.Contains(seen, "old") || strings.Contains(seen, "deploying") {
			t.Errorf("it shows\n%s", seen)
		}
	})
}

func TestAnEditorOfSpacesIsNone(t *testing.T) {
	t.Setenv("VISUAL", " ")
	t.Setenv("EDITOR", "true ")
	if _, err := inEditor(t.Context(), "as it was"); !errors.Is(err, errCancelled) {
		t.Errorf("got %v", err)
	}
}

func TestAPersonReviewsOneItemAfterTheOther(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		server, do, item := d.server, d.do, d.item
		for i := range 3 {
			content := "The deploy window. " + strings.Repeat("Long. ", 99)
			do(client.Post(api.Knowledge{ID: fmt.Sprint("a", i), Type: "plan", Content: content}, "v1", "knowledge"))
			do(client.Post(api.Reason{Reason: "it moved"}, "v1", "knowledge", fmt.Sprint("a", i), "stale"))
		}
		do(client.Post(api.Knowledge{ID: "new", Type: "plan", Content: "The new window."}, "v1", "knowledge"))
		same := func(text string) string { return text }

		for keys, want := range map[string]string{
			"snobody\rwhy\rq": "by no such knowledge", "C2020-01-01\rq": "until must", "Csoon\rq": "no date such as 2027",
			"nnnpp q": "there is no more of this item\r\nc confirm",
		} {
			if seen := reviewed(t, server, keys, same); !strings.Contains(seen, want) {
				t.Errorf("%q shows\n%s", keys, seen)
			}
		}
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
			d.patch("a2", map[string]string{"content": "theirs"})
			return "mine"
		})
		if got := item("a2").Content; got != "theirs" || !strings.Contains(meddled, "somebody changed it") {
			t.Errorf("the content is %q, and it shows\n%s", got, meddled)
		}
	})
}

// contradict lets every two of the items contradict each other.
func (d *desk) contradict(ids ...string) {
	d.t.Helper()
	for i, id := range ids {
		d.do(client.Post(api.Knowledge{ID: id, Type: "plan", Content: "Says " + id + "."}, "v1", "knowledge"))
		for _, other := range ids[:i] {
			proposal := api.NewProposal{Kind: "contradiction", Items: []string{id, other}}
			d.do(client.Post(proposal, "v1", "reviews", "proposals"))
		}
	}
}

func TestOneOfContradictoryItemsIsChosenInOneAct(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.contradict("mon", "tue", "wed", "thu")
		d.do(client.Post(api.Vote{Verdict: "helpful"}, "v1", "knowledge", "tue", "feedback"))
		same := func(text string) string { return text }
		if seen := reviewed(t, d.server, "\x1b[Cnq", same); !strings.Contains(seen, "1 of 1") ||
			!strings.Contains(seen, "1 to 4 keep one · k keep all") {
			t.Errorf("it shows\n%s", seen)
		}
		seen := reviewed(t, d.server, "4\rq", same)
		_, kept, _ := strings.Cut(seen, "kept ")
		kept, _, _ = strings.Cut(kept, " in place of ")
		for _, id := range []string{"mon", "tue", "wed", "thu"} {
			if k := d.item(id); (k.Status == "active") != (id == kept) || id != kept && k.SupersededBy != kept ||
				id == kept && kept != "tue" && *k.Eval.Helpful != 1 {
				t.Errorf("%s was kept, and %s is %+v", kept, id, k)
			}
		}
		if list, err := listReviews(t.Context(), d.server, url.Values{}, 9); err != nil || len(list) > 0 {
			t.Errorf("%d wait still, %v", len(list), err)
		}
		d.contradict("a", "b", "c")
		if seen := reviewed(t, d.server, "k\rq", same); !strings.Contains(seen, "was kept") {
			t.Errorf("it shows\n%s", seen)
		}
		if list, err := listReviews(t.Context(), d.server, url.Values{}, 9); err != nil || len(list) > 0 {
			t.Errorf("%d wait still, %v", len(list), err)
		}
		d.contradict("left", "right")
		reviewed(t, d.server, "\x1b[C\rq", same)
		if list, err := listReviews(t.Context(), d.server, url.Values{}, 9); err != nil || len(list) > 0 {
			t.Errorf("%d wait still, %v", len(list), err)
		}
	})
}

func TestARevisedItemIsConfirmedAtOnce(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.remember("a", "b")
		seen := reviewed(t, d.server, "E\re\rcq", func(string) string { return "The window is Friday." })
		for _, id := range []string{"a", "b"} {
			if k := d.item(id); k.Content != "The window is Friday." || k.ConfirmedAt == nil {
				t.Errorf("%s is %+v, and it shows\n%s", id, k, seen)
			}
		}
	})
}

func TestAPairIsShownSideBySide(t *testing.T) {
	t.Parallel()
	var one Reviewed
	one.Item = &api.Knowledge{ID: "a", Content: "The deploy window is Tuesday from nine to five.", Owner: "user:mia"}
	one.Pair = &api.ReviewPair{
		Kind: "contradiction", Rule: "time", Score: 0.9,
		Items: []*api.Knowledge{{ID: "b", Content: "部署窗口是星期五。", Owner: "user:ben"}},
	}
	var out bytes.Buffer
	one.show(&terminal.Console{Styled: &out, Width: 79})
	for _, want := range []string{
		"← a                                    │ → b\n", "probable contradiction (rule time, score 0.90):\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}

func TestWhatIsProposedIsAcceptedEditedOrDeclined(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.do(client.Request{
			Method: "PUT", Path: []string{"v1", "verification", "user:default"},
			Body: api.NewPolicy{Approve: &[]string{"outside"}},
		})
		for _, id := range []string{"a", "b", "c"} {
			source := &api.Source{URLs: []string{"https://x.example"}}
			d.do(client.Post(api.Knowledge{ID: id, Type: "plan", Content: "Says " + id + ".", Source: source}, "v1", "knowledge"))
		}
		seen := reviewed(t, d.server, "caewhy\rd\x03dit is wrong\rq", func(string) string { return "Says less." })
		if !strings.Contains(seen, "c was declined") {
			t.Errorf("it shows\n%s", seen)
		}
		if a, b := d.item("a"), d.item("b"); a.Status != "active" || a.ConfirmedAt == nil || b.Content != "Says less." ||
			b.Status != "active" {
			t.Errorf("a is %+v, b is %+v", a, b)
		}
		if _, err := d.server.Do(t.Context(), client.Get("v1", "knowledge", "c"), nil); !errors.Is(err, client.ErrGone) {
			t.Errorf("c was declined: %v", err)
		}
	})
}
