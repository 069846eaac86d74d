package console_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
)

func TestShortcutsActAfterTheListOfKeysIsClosed(t *testing.T) {
	onOne(t, "", func(_ *testing.T, w *world) {
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
			{"/console/", "", "Home", ""},
			{"/console/review", "", "Review", ""},
			{"/console/knowledge", "", "Knowledge", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/k/staging", "Knowledge", "", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/sessions", "Knowledge", "Sessions", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/scopes/digest", "Knowledge|Scopes", "", "Scopes|Subscriptions|Resources|Sessions"},
			{"/console/proof", "Log & proof", "Proof", "Receipts|Containments|Proof|Reports"},
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
			"/console/resources", "/console/subscriptions", "/console/privacy", "/console/see-as",
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

func TestThePaletteLeadsToPagesActsItemsAndPeople(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		w.staff()
		p := w.open("/console/k/staging?as_of=4")
		p.Press("Ctrl+k")
		p.Type("#palette input", "proj")
		if got := strings.Fields(p.Text("#palette li[aria-selected=true]")); !slices.Equal(got, []string{"Projections", "page"}) {
			t.Errorf("got %q", got)
		}
		p.Axe()
		p.Press("Enter")
		p.WaitFor("main .list")
		if want := w.url + "/console/projections?as_of=4"; p.URL() != want {
			t.Errorf("got %s, want %s", p.URL(), want)
		}
		p.Go("/console/k/staging")
		p.Press("Ctrl+k")
		p.Type("#palette input", "revise")
		p.Press("Enter")
		p.WaitFor("main form[method=post]")
		containsAll(t, p.URL(), "/k/staging/act/revise")
		p.Press("Ctrl+k")
		p.Type("#palette input", "where is staging")
		p.WaitFor("#palette li")
		containsAll(t, p.Text("#palette li"), "Where is staging?", "item")
		p.Press("Enter")
		p.WaitFor("main .timeline")
		p.Press("Ctrl+k")
		p.Type("#palette input", "mia")
		p.WaitFor("#palette li")
		containsAll(t, p.Text("#palette"), "user:mia", "member")
		p.Axe()
		p.Press("ArrowDown", "ArrowUp", "Escape", "Ctrl+k")
		p.Type("#palette input", "zzzzzz")
		p.WaitFor("#palette ul[hidden] + p:not(:empty)")
		containsAll(t, p.Text("#palette p"), "Nothing fits.")
		p.Axe()
		p.Press("Escape", "?")
		containsAll(t, p.Text("#keys"), "Go to a page, an act")
		p.Click("#keys form button")
		p.Press("/", "Ctrl+k") // from a field, too
		p.WaitFor("#palette[open]")
	})
}

func TestTheReadersRightsBoundWhatThePaletteFinds(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.remember(client.Knowledge{
			ID: "hers", Type: "tool", Content: "The gateway of zoe.", Owner: "user:zoe", Scopes: []string{"user:zoe"},
		})
		for subject, want := range map[string]string{"user:zoe": "The gateway of zoe.", "user:bob": `"items":[]`} {
			key, _ := w.given(subject)
			status, page := w.visit(w.login(key), "/console/data/v1/search?q=gateway")
			if status != http.StatusOK {
				t.Errorf("%s: %d", subject, status)
			}
			containsAll(t, page, want)
		}
		if status, _ := w.ask("/console/data/v1/search?q=gateway"); status != http.StatusUnauthorized {
			t.Errorf("without a login: %d", status)
		}
	})
}

func TestThePageOfAPhoneBeginsWithItsContent(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/")
		p.Size(400, 800)
		for _, path := range []string{"/console/", "/console/search", "/console/knowledge", "/console/k/staging", "/console/review"} {
			p.Go(path)
			var top float64
			if p.Eval(`document.querySelector("h1").getBoundingClientRect().top`, &top); top > 120 {
				t.Errorf("the heading of %s is %.0f pixels below the top", path, top)
			}
		}
		p.Click(".menu summary")
		p.WaitFor(".who button[value=dark]")
		p.Axe()
		p.Click(".side a[href='/console/people']")
		p.WaitFor("body:has(.menu:not([open])):has(.side a[aria-current=page][href='/console/people']) h1")
	})
}

func TestAPageSaysHowManyEventsAreNew(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		pages := map[string]*browsertest.Page{}
		for _, path := range []string{"/console/", "/console/review", "/console/log?name=knowledge.remembered"} {
			pages[path] = w.open(path)
		}
		for _, id := range []string{"a", "b"} {
			w.asMia("POST", "/v1/knowledge", map[string]any{"id": id, "type": "tool", "content": "The tool " + id})
		}
		w.remember(client.Knowledge{Type: "tool", Content: "What the reader does is not new to them."})
		w.asMia("POST", "/v1/knowledge/a/stale", map[string]any{"reason": "it moved"})
		for path, want := range map[string]string{
			"/console/": "3 new", "/console/review": "1 new", "/console/log?name=knowledge.remembered": "2 new",
		} {
			p := pages[path]
			p.WaitFor("#live:not([hidden])")
			var got string
			p.Eval(`new Promise((done) => { const look = () => {
				const text = document.querySelector("#live a").textContent;
				if (text === "`+want+`") done(text); else setTimeout(look, 20);
			}; setTimeout(() => done(document.querySelector("#live a").textContent), 5000); look(); })`, &got)
			if got != want {
				t.Errorf("%s says %q, want %q", path, got, want)
			}
			p.Axe()
			p.Click("#live a")
			p.WaitFor("#live[hidden] ~ *, main:has(#live[hidden])")
		}
		for _, path := range []string{"/console/?as_of=2", "/console/knowledge", "/console/log?follow=1", "/console/log?from=never"} {
			if _, page := w.ask(path); strings.Contains(page, `id="live"`) {
				t.Errorf("%s follows the log", path)
			}
		}
	})
}
