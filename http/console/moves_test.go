package console_test

import (
	"slices"
	"strings"
	"testing"
)

func TestShortcutsActAfterTheListOfKeysIsClosed(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/")
		p.Press("?")
		p.Click("#keys form button")
		p.Press("g", "l")
		p.WaitFor("main #events")
		p.Press("?", "Escape", "g", "k")
		p.WaitFor("main .browse")
	})
}

func TestTheNavigationOpensTheGroupOfThePage(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/")
		for _, c := range []struct{ path, group, page, below string }{
			{"/console/", "", "Home", "Ask and tell"},
			{"/console/review", "", "Review", ""},
			{"/console/knowledge", "", "Knowledge", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/k/staging", "Knowledge", "", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/sessions", "Knowledge", "Sessions", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/scopes/digest", "Knowledge|Scopes", "", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/proof", "Log & proof", "Proof", "Proof|Reports"},
			{"/console/health", "Run", "Health", "Health|Projections|Access|Privacy|Settings"},
			{"/console/people/import", "People", "", ""},
		} {
			p.Go(c.path)
			shown := func(selector string) (names string) {
				t.Helper()
				p.Eval(`[...document.querySelectorAll(".side `+selector+`")].filter((e) => e.checkVisibility()).map((e) => e.textContent).join("|")`, &names)
				return names
			}
			if n := p.Count(".side > ul > li"); n != 7 {
				t.Errorf("%s has %d entries at the first level", c.path, n)
			}
			got := []string{shown("[aria-current=true]"), shown("[aria-current=page]"), shown("ul ul a")}
			if want := []string{c.group, c.page, c.below}; !slices.Equal(got, want) {
				t.Errorf("%s shows %q, want %q", c.path, got, want)
			}
		}
	})
}

func TestTheTimeBarUnfoldsWhereThePastCanBeShown(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/")
		for _, path := range []string{
			"/console/", "/console/search", "/console/knowledge", "/console/k/staging", "/console/log", "/console/scopes",
			"/console/review", "/console/people", "/console/reports/stale",
		} {
			if _, page := w.ask(path); !strings.Contains(page, `class="timebar"`) {
				t.Errorf("%s has no time bar", path)
			}
		}
		for _, path := range []string{
			"/console/settings", "/console/access", "/console/remember", "/console/health", "/console/projections",
			"/console/ask", "/console/resources", "/console/subscriptions", "/console/privacy", "/console/see-as",
			"/console/k/staging/act/revise", "/console/sessions",
		} {
			if _, page := w.ask(path); strings.Contains(page, `class="timebar"`) {
				t.Errorf("%s has a time bar", path)
			}
		}
		p.Click(".when summary")
		p.Click("#back")
		p.WaitFor("body.past .timebar #now") // it is unfolded in the past
		p.Press("n")
		p.WaitFor("body:not(.past) .when:not([open])")
		p.Press("[")
		p.WaitFor("body.past")
		if p.Go("/console/settings?as_of=2"); p.Text(".when summary") != "As of #2" {
			t.Error("a page of today does not lead back from the past")
		}
	})
}
