package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

func TestAListIsSortedAndNarrowedByItsCounts(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/knowledge")
		containsAll(t, strings.Join(strings.Fields(p.Text(".facets")), " "), "Reported stale 1", "definition 1", "user_profile 1", "default 2")
		p.Click(".facets a[href*='type=definition']")
		p.WaitFor(".facets a[aria-current]")
		if got := p.Count("tbody tr"); got != 1 {
			t.Errorf("%d items have the type, want 1", got)
		}
		p.Click("p.about a.badge") // without the filter
		p.WaitFor("tbody tr:nth-child(2)")
		p.Click("th a[href*='sort=confidence']")
		p.WaitFor("th[aria-sort=descending]")
		containsAll(t, p.Text("tbody tr:first-child"), "用户的语言") // the other was reported stale
		p.Click("th a[href*='sort=confidence']")
		p.WaitFor("th[aria-sort=ascending]")
		containsAll(t, p.Text("tbody tr:first-child"), "Where is staging?")
		p.Go("/console/knowledge?as_of=3")
		if got := p.Count(".facets, th a, tbody input"); got != 0 {
			t.Errorf("the past has %d counts, orders and boxes", got)
		}
	})
}

func TestAListIsExportedAsItIsShown(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		_, page := w.ask("/console/knowledge?type=definition&sort=updated")
		containsAll(t, page, `href="/console/export?format=csv&amp;list=knowledge&amp;sort=updated&amp;type=definition"`)
		_, table := w.ask("/console/export?format=csv&list=knowledge&type=definition")
		containsAll(t, table, "id,type,", "staging,definition,")
		_, lines := w.ask("/console/export?format=ndjson&list=knowledge&as_of=1")
		if !strings.Contains(lines, `"night`) && !strings.Contains(lines, "every night") || strings.Contains(lines, "language") {
			t.Errorf("as of the first event: %s", lines)
		}
		for _, bad := range []string{"format=xml", "list=secrets&format=csv", "list=knowledge&format=csv&sort=size"} {
			if status, _ := w.ask("/console/export?" + bad); status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d", bad, status)
			}
		}
	})
}

func TestManyItemsAreActedOnWithTheKeyboard(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/knowledge")
		p.Press("j", "x", "j", "x")
		if got := p.Count("tbody input:checked"); got != 2 {
			t.Fatalf("%d items are selected, want 2", got)
		}
		p.Click("main form .second")
		p.WaitFor("input[name=act]")
		containsAll(t, p.Text("main"), "Act on 2 items", "Where is staging?", "2 of 2", "its confidence until it is confirmed")
		if got := p.Count("input[name=act][value=restore]"); got != 0 {
			t.Error("an act is offered that fits no item")
		}
		p.Click("input[value=stale]")
		p.Type("textarea[name=reason]", "all moved")
		p.Click("form.stack button")
		p.WaitFor(".done")
		containsAll(t, p.Text("main"), "Done for 2 of 2 items.")
		_, log := w.ask("/console/log?name=knowledge.reported_stale")
		if got := strings.Count(log, "all moved"); got != 2 {
			t.Errorf("%d events have the reason, want 2", got)
		}
	})
}

func TestWhatFailedStaysSelected(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		act := func(form url.Values) string {
			t.Helper()
			_, _, body := servertest.Send(t, http.DefaultClient, servertest.Request(t, http.MethodPost,
				w.url+"/console/knowledge/acts", form.Encode(), "Content-Type: application/x-www-form-urlencoded"))
			return string(body)
		}
		_, err := w.api.Revise(t.Context(), "language", client.Knowledge{Content: "changed"})
		if err != nil {
			t.Fatal(err)
		}
		seen := url.Values{"id": {"staging", "language", "none"}, "revision": {"2", "1", "1"}, "act": {"forget"}, "reason": {"done"}}
		page := act(seen)
		containsAll(t, page, "Done for 1 of 2 items.", "not there", `href="/console/knowledge/acts?id=language"`)
		if strings.Contains(page, "acts?id=staging") {
			t.Error("an item stays selected though the act happened")
		}
		seen.Del("act")
		containsAll(t, act(seen), "Choose what to do.")
	})
}

func TestHomeShowsWhatNeedsAttention(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		_, page := w.ask("/console/")
		if strings.Contains(page, "standing") {
			t.Error("an empty server has counts")
		}
		w.tell()
		w.remember(client.Knowledge{
			ID: "bad", Type: "tool", Content: "Delete the queue.", Eval: &client.Eval{Helpful: new(1), Harmful: new(9)},
		})
		for _, err := range []error{
			last(w.api.GiveFeedback(t.Context(), "staging", client.Vote{Verdict: "harmful", TraceID: "t"})),
			last(w.api.GiveFeedback(t.Context(), "staging", client.Vote{Verdict: "helpful", TraceID: "u"})),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		p := w.open("/console/")
		tiles := strings.Join(strings.Fields(p.Text(".standing")), " ")
		containsAll(t, tiles, "3 items", "1 stale", "1 contested")
		containsAll(t, p.Text("#deciding"), "Where is staging?", "Reported stale")
		if got := p.Count("details.commands pre"); got > 9 {
			t.Errorf("the page makes %d requests, at most 9 are allowed", got)
		}
		p.Click(".standing a[href*=contested]")
		p.WaitFor("tbody tr")
		containsAll(t, p.Text("tbody"), "Delete the queue.")
		p.Go("/console/?as_of=2")
		if got := p.Count(".standing"); got != 0 {
			t.Error("the past has the counts of now")
		}
	})
}

func TestScopesShowHowWellTheirItemsAreKept(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		w.remember(client.Knowledge{ID: "ours", Type: "tool", Content: "x", Scopes: []string{"team:pay"}})
		p := w.open("/console/scopes")
		containsAll(t, p.Text("main"), "Team", "team pay", "User", "default")
		p.WaitFor("svg.bar.state") // comes after the page
		containsAll(t, p.Text("#scopes"), "How well it is looked after", "Median age")
		if _, page := w.ask("/console/scopes"); strings.Contains(page, "bar state") || !strings.Contains(page, `href="/console/scopes?health=yes"`) {
			t.Error("the page waits for the report, or does not lead to it")
		}
		p.Click("a[href*='stale=true'][href*='user%3Adefault']")
		p.WaitFor("tbody tr")
		containsAll(t, p.Text("tbody"), "Where is staging?")
	})
}
