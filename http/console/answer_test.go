package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// standing remembers an answer that somebody confirmed, three say holds, and one item disputes.
func (w *world) standing() {
	w.t.Helper()
	w.contradicted()
	w.remember(client.Knowledge{ID: "tool", Type: "tool", Content: "The release tool is on the build server."})
	name := "Dora Default"
	member := client.Request{
		Method: "PUT", Path: []string{"v1", "directory", "user:default"}, Body: api.NewMember{DisplayName: &name},
	}
	confirm := client.Post(map[string]any{"until": "60d"}, "v1", "knowledge", "window", "confirm")
	for _, request := range []client.Request{member, confirm} {
		if _, err := w.api.Do(w.t.Context(), request, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, trace := range []string{"a", "b", "c"} {
		if _, err := w.api.GiveFeedback(w.t.Context(), "window", client.Vote{Verdict: "helpful", TraceID: trace}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// printers remembers many items that are near a question about printers, of which none answers it.
func (w *world) printers() {
	w.t.Helper()
	w.remember(client.Knowledge{Type: "definition", Content: "Deploy to production from Monday to Thursday, 09:00 to 16:00 UTC; a deploy outside needs the incident lead"})
	for i, name := range []string{"ledger", "cart", "invoice", "refund", "payout", "voucher", "receipt", "wallet"} {
		w.remember(client.Knowledge{Type: "strategy", Content: "The " + name + " service is deployed by its pipeline"})
		for j := range 8 {
			w.remember(client.Knowledge{Type: "usecase", Content: fmt.Sprintf("Ticket %d: the printer on floor %d has paper", 8*i+j, j)})
		}
	}
}

// bottom is where an element ends, in pixels from the top of the page.
func (h *hand) bottom(selector string) (pixels float64) {
	h.t.Helper()
	h.WaitFor(selector)
	h.Eval(`document.querySelector("`+selector+`").getBoundingClientRect().bottom + scrollY`, &pixels)
	return pixels
}

// Job 2: the answer's sentence, its standing and who disagrees are seen without scrolling.
func TestAnAnswerBeginsWithItsSentenceItsStandingAndWhoDisagrees(t *testing.T) {
	onEachScreen(t, "", func(w *world, h *hand) {
		w.standing()
		h.Go("/console/")
		h.fill("main input[type=search], header input[type=search]", "when do we deploy")
		h.key("Enter")
		h.WaitFor(".hit.best")
		h.took(1)
		containsAll(h.t, h.Text(".hit.best blockquote"), "We deploy on Tuesdays at ten.")
		h.says(".hit.best .standing", "confirmed by Dora Default until ", "由 Dora Default 确认，有效至 ")
		h.says(".hit.best .standing", "3 of 3 say it holds", "3 / 3 认为它仍然有效")
		h.says(".dispute", "Dora Default says something else:", "Dora Default 的说法不同：")
		containsAll(h.t, h.Text(".dispute mark"), "Thursdays")
		containsAll(h.t, strings.ToLower(h.Text(".hit.best blockquote mark")), "deploy")
		for _, part := range []string{".hit.best blockquote", ".hit.best .standing", ".dispute"} {
			var wide float64
			h.Eval("innerWidth", &wide)
			if most := map[bool]float64{true: 400, false: 800}[wide > 800]; h.bottom(part) > most {
				h.t.Errorf("%s ends %v pixels below the top, want %v", part, h.bottom(part), most)
			}
		}
		if got := h.Text("#results"); strings.Contains(got, "%") {
			h.t.Errorf("there are figures that nobody asked for:\n%s", got)
		}
	})
}

// Job 10, its first half: a tap leads from the answer to the whole text.
func TestOnAPhoneFiltersStandAboveHitsAndATapOpensAnItem(t *testing.T) {
	onEachScreen(t, "", func(w *world, h *hand) {
		w.standing()
		w.printers()
		h.Go("/console/search?q=who+repairs+the+printer+of+the+wallet+team+when+it+is+jammed")
		h.WaitFor(".hits .perhaps")
		var rows []float64
		h.Eval(`[...document.querySelectorAll(".hits .perhaps")].map(row => row.getBoundingClientRect().height)`, &rows)
		for _, height := range rows {
			if height > 40 {
				h.t.Errorf("a row of Perhaps is %v pixels high", height)
			}
		}
		h.Go("/console/search?q=when+do+we+deploy")
		var width, facets, hits float64
		h.Eval("innerWidth", &width)
		h.Eval(`document.querySelector(".facets").getBoundingClientRect().bottom`, &facets)
		if h.Eval(`document.querySelector(".hits").getBoundingClientRect().top`, &hits); width < 800 && facets > hits {
			h.t.Errorf("the filters end at %v pixels, below the beginning of the hits at %v", facets, hits)
		}
		h.use(".hit h2 a")
		h.WaitFor(`main:not(:has(#results)) h1`)
		containsAll(h.t, h.Text("main"), "We deploy on Tuesdays at ten.")
		h.took(1)
	})
}

func TestWhatNobodyHasWrittenIsAskedAndWrittenDown(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open("/console/search?q=kafka+retention")
		containsAll(t, p.Text(".unwritten"), "Nobody has written this down.")
		if p.Count(".unwritten p") > 1 && !strings.Contains(p.Text(".unwritten"), "who wrote most about kafka retention") {
			t.Errorf("got %q", p.Text(".unwritten"))
		}
		if p.Count("#results table:not(details *)") != 0 || p.Count("details.explain[open]") != 0 {
			t.Error("who types sees how the answer came about")
		}
		p.Go("/console/search?why=1")
		p.Type("main [name=q]", "kafka")
		p.WaitFor("#found .unwritten")
		if p.Count("details.explain[open]") != 0 {
			t.Error("who types sees how the answer came about, since they asked for it once")
		}
		p.Axe()
		p.Click(".unwritten a.button")
		p.WaitFor("#task")
		var task string
		if p.Eval(`document.querySelector("#task").value`, &task); task != "kafka" {
			t.Errorf("the task is %q", task)
		}
		p.Go("/console/ask?q=staging")
		p.WaitFor(".hit.best")
		containsAll(t, p.URL(), "/console/search?q=staging")
	})
}

// What a reader types means what it says, or the page says in their words what it does not know.
func TestAFilterMeansWhatItSaysOrIsNamedAsItWasTyped(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.standing()
		ask := func(path, line string) (page, text string) {
			t.Helper()
			_, page = w.ask("/console/" + path + "?q=" + url.QueryEscape(line))
			text, _, _ = strings.Cut(said(named(t, page, "main", "")[0]), "The same in a terminal")
			return page, strings.Join(strings.Fields(text), " ")
		}
		for _, c := range []struct{ path, line, want, not string }{
			{"search", "when do we deploy is:disputed", "We deploy on Tuesdays", "release tool"},
			{"search", "release tool is:disputed", "", "release tool is on the build server"},
			{"search", "release tool owner:me", "release tool is on the build server", "Nobody"},
			{"search", "is:disputed", "Knowledge: is:disputed", ""},
			{"knowledge", "owner:me", "release tool is on the build server", "wrong"},
			{"log", "actor:me", "release tool is on the build server", "No event"},
			{"search", "typ:plan", "There is no filter typ:plan. Did you mean type:plan?", "Nobody"},
			{"search", "deploy onwer:mia", "Did you mean owner:mia?", ""},
			{"search", "deploy is:disputd", "Did you mean is:disputed?", ""},
			{"search", "deploy type:plam", "type:plam must be one of", ""},
			{"search", "deploy type:plam", "Did you mean type:plan?", ""},
			{"search", "deploy stale:yess", "stale:yess must be true or false", ""},
			{"search", "deploy actor:me", "Nothing here is filtered by actor:me. Log: actor:me", ""},
			{"log", "type:plan", "Nothing here is filtered by type:plan. Knowledge: type:plan", ""},
			{"search", "https://example.com/a:b 10:30", "", "no filter"},
			{"log", "name:session", "Name: Session", "session."},
			{"log", "name:remembered", "Name: remembered", "must be"},
			{"log", "name:sesion", "Did you mean name:session?", "knowledge.remembered"},
		} {
			if _, text := ask(c.path, c.line); !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("%s %q: want %q without %q in:\n%s", c.path, c.line, c.want, c.not, text)
			}
		}
		page, _ := ask("search", "deploy is:disputed")
		containsAll(t, page, `name="q" value="deploy is:disputed"`)
	})
}

// A text of 64 KiB in one word, and a question as long, are shown without breaking anything.
func TestALongTextIsAnsweredWithItsPassage(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "wall", Type: "tool", Content: "gateway " + strings.Repeat("x", 64<<10-100)})
		book := strings.Repeat("The gateway has settings that nobody remembers. ", 600) + "If it returns 502, restart the sidecar. " +
			strings.Repeat("Then look at the boards. ", 600)
		w.remember(client.Knowledge{ID: "book", Type: "tool", Task: strings.Repeat("بوابة ", 300), Content: book})
		p := w.open("/console/search?q=gateway+returns+502+sidecar")
		got := p.Text(".hit.best blockquote")
		if containsAll(t, got, "returns 502, restart the sidecar"); len(got) > 400 {
			t.Errorf("%d bytes are shown", len(got))
		}
		p.Size(390, 800)
		for _, path := range []string{"/console/search?q=gateway", "/console/search?q=" + strings.Repeat("gateway+", 8<<10)} {
			p.Go(path)
			p.WaitFor("#results")
			var wide int
			if p.Eval("document.documentElement.scrollWidth", &wide); wide > 390 || p.Count("h1.hidden") != 1 {
				t.Errorf("%s is %d pixels wide", path[:40], wide)
			}
		}
		status, _ := w.ask("/console/search?q=" + strings.Repeat("g", 64<<10))
		if status != http.StatusOK {
			t.Errorf("a question of 64 KiB: %d", status)
		}
	})
}
