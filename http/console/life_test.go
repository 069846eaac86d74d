package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// supersede lets an item take the place of another one.
func (w *world) supersede(id, by string) {
	w.t.Helper()
	if _, err := w.api.Do(w.t.Context(), client.Post(api.Supersession{By: by}, "v1", "knowledge", id, "supersede"), nil); err != nil {
		w.t.Fatal(err)
	}
}

// How an item came to be is a line: one click, or one key, leads to its text at any point, with what changed there.
func TestALineLeadsToTheTextOfAnyMoment(t *testing.T) {
	onEachScreen(t, "", func(w *world, h *hand) {
		w.tell()
		w.named("user:default", "Dora Default")
		w.remember(client.Knowledge{ID: "old", Type: "definition", Content: "Staging is rebuilt by hand."})
		w.supersede("old", "staging")
		h.Go("/console/k/staging")
		containsAll(h.t, h.Text("#then"), "every morning")
		servertest.Same(h.t, h.Count(".life .point"), 5) // and the present
		for i, point := range []struct{ kind, english, chinese, text string }{
			{"remembered", "remembered", "记入", "The staging database is rebuilt every night."},
			{"found_helpful", "found helpful", "被认为有用", "The staging database is rebuilt every night."},
			{"reported_stale", "reported stale", "被报告过时", "The staging database is rebuilt every night."},
			{"revised", "revised", "已修订", "rebuilt every −night+morning."},
		} {
			h.clicks = 0
			if i == 0 {
				h.use(".life .point." + point.kind + " a")
			} else {
				h.Eval(`document.getElementById("along").focus()`, nil)
				h.key("ArrowRight")
			}
			h.took(2)
			h.WaitFor(".life .point." + point.kind + " [aria-current]")
			h.Eval(`new Promise(done => { const wait = () => document.querySelector("#then strong")?.textContent === "`+
				map[string]string{"en": point.english, "zh": point.chinese}[h.language]+`" ? done(1) : setTimeout(wait, 20); wait(); })`, nil)
			containsAll(h.t, h.Text("#then"), point.text, "Dora Default")
		}
		h.Axe()
		h.key("ArrowRight")
		h.WaitFor("#then:not(:has(.about))")
		containsAll(h.t, h.Text("#then"), "every morning")

		h.use(".life details summary")
		servertest.Same(h.t, h.Count(".life tbody tr"), 4)
		containsAll(h.t, h.Text(".life tbody"), "Dora Default", "75 %")
		h.use(".lineage details summary")
		containsAll(h.t, h.Text(".lineage tbody"), "Staging is rebuilt by hand.", "Where is staging?")
		h.Axe()

		h.Eval("scrollTo(0, document.body.scrollHeight)", nil)
		var covered bool
		h.Eval(`document.querySelector("footer").getBoundingClientRect().bottom > document.querySelector(".reach").getBoundingClientRect().top &&
			getComputedStyle(document.querySelector(".reach")).position === "fixed"`, &covered)
		if covered {
			h.t.Error("the acts cover the end of the page")
		}
		h.clicks = 0
		h.use(".lineage foreignObject:not(:has([aria-current])) a")
		h.WaitFor(`h1:not(:empty)`)
		containsAll(h.t, h.URL(), "/console/k/old")
		h.took(1)
	})
}

// Without scripts, the points are links to the past, which has the same words and marks.
func TestAPointOfTheLineIsALink(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell() // 1 remembered, 3 helpful, 4 stale, 5 revised
		_, page := w.ask("/console/k/staging")
		containsAll(t, page, `href="/console/k/staging?as_of=5"`)
		for moment, marks := range map[string]int{"1": 0, "3": 0, "5": 1} {
			_, then := w.ask("/console/k/staging?as_of=" + moment)
			at, _, _ := strings.Cut(then[strings.Index(then, `id="then"`):], "</div>")
			if moment == "1" && strings.Contains(at, "stayed the same") {
				t.Errorf("the first text is called the same as before:\n%s", at)
			}
			if got := strings.Count(at, "<ins>"); got != marks || !strings.Contains(at, "night") {
				t.Errorf("at %s there are %d marks in:\n%s", moment, got, at)
			}
			containsAll(t, then, `href="/console/k/staging?as_of=5"`, `href="/console/k/staging"`)
		}
	})
}

// The line has a place for each entry of a long history but those in the middle, which a link leads to.
func TestALineOfManyPointsSaysWhatItLeavesOut(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "busy", Type: "tool", Content: "0"})
		for i := range 44 {
			if _, err := w.api.Revise(t.Context(), "busy", client.Knowledge{Content: fmt.Sprint(i + 1)}); err != nil {
				t.Fatal(err)
			}
		}
		_, page := w.ask("/console/k/busy")
		containsAll(t, page, `href="/console/k/busy?order=asc">and 5 others</a>`, `href="/console/k/busy?as_of=1"`, `href="/console/k/busy?as_of=45"`)
		if strings.Count(page, `<circle r="14">`) != 40 {
			t.Errorf("%d points", strings.Count(page, `<circle r="14">`))
		}
	})
}

// A point at which the item was forgotten says so; where there is no text because of an error, the page of the error comes.
func TestALinePassesWhereTheItemWasForgotten(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		if err := w.api.Forget(t.Context(), "staging", "too early"); err != nil { // 6
			t.Fatal(err)
		}
		if _, err := w.api.Do(t.Context(), client.Post(api.Reason{}, "v1", "knowledge", "staging", "restore"), nil); err != nil {
			t.Fatal(err)
		}
		p := w.open("/console/k/staging")
		p.Click(".life .point.deleted a")
		p.WaitFor("p#then")
		containsAll(t, p.Text("#then"), "It is in no answer any more.")
		p.Click(".life .point.restored a")
		p.WaitFor("#then .about")
		containsAll(t, p.Text("#then"), "restored", "every morning")
		p.Eval(`document.querySelector(".life .point.revised a").setAttribute("href", "/console/k/staging?as_of=9999")`, nil)
		p.Click(".life .point.revised a")
		p.WaitFor("#as-of-wrong")
	})
}

// A lineage has a box for each of the nearest thirty, and a link to all.
func TestALineageIsAGraphOfLinks(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "new", Type: "tool", Content: "The newest way to deploy."})
		for i := range 32 {
			id := fmt.Sprintf("old%d", i)
			w.remember(client.Knowledge{ID: id, Type: "tool", Content: fmt.Sprintf("Way number %d to deploy.", i)})
			w.supersede(id, "new")
		}
		_, page := w.ask("/console/k/new")
		containsAll(t, page, `?lineage=all#lineage">and 3 others</a>`, "Way number 7 to deploy.")
		if got := len(elementsIn(t, page, "foreignobject", "lineage")); got != 30 {
			t.Errorf("%d boxes", got)
		}
		_, all := w.ask("/console/k/new?lineage=all")
		if got := len(elementsIn(t, all, "foreignobject", "lineage")); got != 33 || strings.Contains(all, "others</a>") {
			t.Errorf("%d boxes of all", got)
		}
		_, old := w.ask("/console/k/old3")
		containsAll(t, old, "took its place", "The newest way to deploy.")
	})
}

// An item that is gone keeps its title, wherever it is named; one that was erased says so, and when.
func TestAnItemThatIsGoneKeepsItsTitle(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		forgotten := w.remember(client.Knowledge{Type: "tool", Task: "Where is the old wiki?", Content: "At wiki.example."}).Knowledge.ID
		erased := w.remember(client.Knowledge{Type: "tool", Content: "The password of the wiki."}).Knowledge.ID
		if err := w.api.Forget(t.Context(), forgotten, "closed"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.api.Do(t.Context(), client.Request{Method: http.MethodDelete, Path: []string{"v1", "knowledge", erased}, Query: map[string][]string{"erase": {"true"}}}, nil); err != nil {
			t.Fatal(err)
		}
		p := w.open("/console/k/" + forgotten)
		containsAll(t, p.Text("main"), "Where is the old wiki?", "forgotten", "just now")
		p.Go("/console/k/" + forgotten + "/act/restore")
		containsAll(t, p.Text("h1"), "Where is the old wiki?")
		p.Go("/console/k/" + erased)
		containsAll(t, p.Text("main"), "An erased item", "erased", "just now")
		p.Go("/console/log")
		containsAll(t, p.Text("main"), "Where is the old wiki?", "an erased item")
		for _, path := range []string{"/console/log", "/console/k/" + forgotten, "/console/k/" + erased} {
			p.Go(path)
			if text := p.Text("main"); strings.Contains(text, forgotten) || strings.Contains(text, erased) || strings.Contains(text, "password") {
				t.Errorf("%s says:\n%s", path, text)
			}
		}
	})
}

// What a person reads of an item has no word of the machine, unless it is unfolded.
func TestAnItemIsShownWithoutWordsOfTheMachine(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.named("user:default", "Dora Default")
		id := w.remember(client.Knowledge{Type: "plan", Content: "Deploy on Thursdays.", Tags: client.Tags{"domain": {"deploys"}}}).Knowledge.ID
		w.remember(client.Knowledge{ID: "older", Type: "plan", Content: "Deploy on Fridays."})
		w.supersede("older", id)
		for _, err := range []error{
			last(w.api.Revise(t.Context(), id, client.Knowledge{Scopes: []string{"public"}})), last(w.api.ReportStale(t.Context(), id, "why not Friday?")),
			last(w.api.Confirm(t.Context(), id, "it holds")), last(w.api.Revise(t.Context(), id, client.Knowledge{Content: "Deploy on Mondays."})),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		p := w.open("/console/k/" + id)
		for _, path := range []string{"", "/compare", "/blame", "/use"} {
			p.Go("/console/k/" + id + path)
			text := p.Text("main")
			for _, machine := range []string{id, "user:", "knowledge.", "viking:", "eval", "stale.", "confirmed_at", "context_type", "open\n", "#1", "revision", "%"} {
				if strings.Contains(text, machine) {
					t.Errorf("%s says %q:\n%s", path, machine, text)
				}
			}
		}
		var last string
		p.Eval(`[...document.querySelectorAll(".acts a")].at(-1).href.split("/").at(-1)`, &last)
		if p.Count(".vote button") != 2 || p.Count(".acts > a") != 1 || last != "erase" {
			t.Errorf("%d acts are in reach, and the last is %s", p.Count(".acts > a"), last)
		}
	})
}

// A text of 64 KiB without a blank, as a title as well, and a name in Arabic break no page and lose nothing.
func TestLongTextsAndNamesInArabicFitAPhone(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.named("user:default", "عمر الفاروق")
		long := strings.Repeat("a", 64<<10)
		w.remember(client.Knowledge{ID: "long", Type: "tool", Content: long})
		w.remember(client.Knowledge{ID: "titled", Type: "tool", Task: strings.Repeat("b", 2000), Content: "short"})
		w.supersede("long", "titled")
		p := w.open("/console/k/long")
		p.Size(390, 800)
		for path, whole := range map[string]string{"/console/k/long": long, "/console/k/titled": strings.Repeat("b", 2000)} {
			p.Go(path)
			var wide int
			if p.Eval("document.documentElement.scrollWidth", &wide); wide > 390 || !strings.Contains(p.Text("main"), whole) {
				t.Errorf("%s is %d pixels wide, or its text is cut", path, wide)
			}
			containsAll(t, p.Text("main"), "عمر الفاروق")
			p.Axe()
		}
		p.Go("/console/k/long/compare")
		var wide int
		if p.Eval("document.documentElement.scrollWidth", &wide); wide > 390 {
			t.Errorf("the moments to compare are %d pixels wide", wide)
		}
		p.Go("/console/k/long")
		if title := p.Text("h1"); !strings.HasSuffix(title, "…") {
			t.Errorf("the title is cut silently: %s", title)
		}
		var face string
		p.Eval(`document.querySelector(".life text").textContent`, &face)
		if face != "عا" {
			t.Errorf("the initials are %q", face)
		}
	})
}

// elementsIn are the elements of a page with a name, inside of an element with an id.
func elementsIn(t *testing.T, page, name, id string) (found []*html.Node) {
	t.Helper()
	return elements(t, page, func(n *html.Node) bool {
		for up := n.Parent; up != nil; up = up.Parent {
			if strings.EqualFold(n.Data, name) && attribute(up, "id") == id {
				return true
			}
		}
		return false
	})
}
