package console_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/http/client"
)

// rows are the rows of a page's comparison, as text.
func rows(t *testing.T, page string) (all []string) {
	t.Helper()
	for _, row := range elements(t, page, func(n *html.Node) bool { return n.Data == "tr" && n.Parent.Data == "tbody" }) {
		all = append(all, strings.Join(strings.Fields(strings.ReplaceAll(said(row), "\n", " ")), " "))
	}
	return all
}

func TestASearchIsComparedAtTwoMoments(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		for _, id := range []string{"first", "second", "third"} { // 1, 2, 3
			w.remember(client.Knowledge{ID: id, Type: "tool", Task: "deploy the gateway " + id, Content: "deploy the gateway"})
		}
		_, page := w.ask("/console/search?q=deploy+gateway&as_of=3&vs=now")
		if got := rows(t, page); len(got) != 3 || !strings.HasPrefix(got[0], "= same rank 1 1 ") {
			t.Errorf("without a change: %q", got)
		}
		for range 2 { // 4, 5
			if _, err := w.api.GiveFeedback(t.Context(), "first", client.Vote{Verdict: "helpful", TraceID: strings.Repeat("a", 32)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.api.Forget(t.Context(), "third", ""); err != nil {
			t.Fatal(err)
		}
		w.remember(client.Knowledge{ID: "fourth", Type: "tool", Task: "deploy the gateway fourth", Content: "deploy the gateway"})
		status, page := w.ask("/console/search?q=deploy+gateway&as_of=3&vs=now")
		got := strings.Join(rows(t, page), "\n")
		if status != http.StatusOK {
			t.Fatal(status)
		}
		containsAll(t, got, "↑ 2 up 3 1 deploy the gateway first", "− gone 1 – deploy the gateway third", "+ new – 2 deploy the gateway fourth")
		_, turned := w.ask("/console/search?q=deploy+gateway&vs=3")
		if other := strings.Join(rows(t, turned), "\n"); other != got {
			t.Errorf("the other way round:\n%s\nwant:\n%s", other, got)
		}
		if status, _ := w.ask("/console/search?q=deploy&vs=never"); status != http.StatusUnprocessableEntity {
			t.Errorf("a moment that is none: %d", status)
		}
	})
}

func TestAListIsComparedAtTwoMoments(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		w.remember(client.Knowledge{ID: "kept", Type: "tool", Content: "kept"}) // 6
		if err := w.api.Forget(t.Context(), "language", "old"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.api.ReportStale(t.Context(), "staging", "again"); err != nil {
			t.Fatal(err)
		}
		w.remember(client.Knowledge{ID: "later", Type: "tool", Content: "later"})
		_, page := w.ask("/console/knowledge?as_of=6&vs=now")
		got := strings.Join(rows(t, page), "\n")
		containsAll(t, got, "+ new later", "− gone 用户的语言", "± changed Where is staging?")
		if strings.Contains(got, "kept") || !strings.Contains(page, "Unchanged items: 1") {
			t.Errorf("what did not change is listed:\n%s", got)
		}
		_, page = w.ask("/console/knowledge?as_of=6&vs=now&type=tool")
		if got := rows(t, page); len(got) != 1 {
			t.Errorf("with a filter: %q", got)
		}
	})
}

func TestThePastLeadsToItsComparisonWithNow(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		for path, want := range map[string]string{
			"/console/search?q=staging&as_of=4": ".versus", "/console/knowledge?as_of=4": ".versus", "/console/k/staging?as_of=4": ".edits",
		} {
			p := w.open(path)
			p.Press("n")
			p.WaitFor("body:not(.past)")
			p.Go(path)
			p.Eval(`[...document.querySelectorAll(".timebar a")].find((a) => a.textContent === "Compare with now").click()`, nil)
			p.WaitFor(want)
			containsAll(t, p.Text("main"), "staging")
		}
	})
}
