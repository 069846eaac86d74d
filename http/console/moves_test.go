package console_test

import (
	"slices"
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
