package console_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
)

// hand works on a page: with the mouse, or with the keyboard alone.
type hand struct {
	*browsertest.Page
	t        *testing.T
	keyboard bool
	language string // of the page, where a test chooses it
	clicks   int    // or, on the keyboard, times that Enter was pressed
}

// focus moves the focus forwards with the Tab key until an element has it.
func (h *hand) focus(selector string) {
	h.t.Helper()
	h.WaitFor(selector)
	for range 300 {
		var there bool
		h.Eval("document.activeElement?.matches("+strconv.Quote(selector)+") ?? false", &there)
		if there {
			return
		}
		h.Press("Tab")
	}
	h.t.Fatalf("%s: the Tab key does not reach %s", h.URL(), selector)
}

// use follows a link or presses a button.
func (h *hand) use(selector string) {
	h.t.Helper()
	h.clicks++
	if !h.keyboard {
		h.Click(selector)
		return
	}
	h.focus(selector)
	h.Press("Enter")
}

// took fails the test if it took more clicks than n.
func (h *hand) took(n int) {
	h.t.Helper()
	if h.clicks > n {
		h.t.Errorf("it took %d clicks, at most %d are wanted", h.clicks, n)
	}
}

// fill types a text into a field.
func (h *hand) fill(selector, text string) {
	h.t.Helper()
	if !h.keyboard {
		h.Type(selector, text)
		return
	}
	h.focus(selector)
	h.Press(strings.Split(text, "")...)
}

// act does something to the item of the page, and waits for the page that says so.
func (h *hand) act(name string, fields ...string) {
	h.t.Helper()
	link := `a[href$="/act/` + name + `"]`
	h.WaitFor(".acts")
	if h.Count(".acts details:not([open]) "+link) > 0 {
		h.use(".acts summary")
	}
	h.use(link)
	for i := 0; i+1 < len(fields); i += 2 {
		h.fill("main [name="+fields[i]+"]", fields[i+1])
	}
	h.use("main form[method=post] button")
	if name == "revise" {
		h.use("button[value=save]")
	}
	h.WaitFor(".done")
}

// A preference is remembered, used, corrected, doubted, confirmed, looked at as it was, proved, forgotten and brought
// back.
func TestAMemoryIsFollowedFromItsFirstWordToItsProof(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		for _, keyboard := range []bool{false, true} {
			h := hand{Page: w.open("/console/"), t: t, keyboard: keyboard}
			if keyboard {
				h.Press("g", "k")
			}
			h.use(`main a[href="/console/remember"]`)
			task := map[bool]string{false: "用户编码风格偏好", true: "Coding style of the user"}[keyboard]
			h.use("form details summary")
			h.fill("#task", task)
			h.fill("#content", "The user prefers JavaScript.")
			h.fill("#tags", "category: preference")
			h.use("main form[method=post] button")
			if keyboard { // it contradicts the first
				h.use("button[name=keep]")
			}
			h.WaitFor(".done")
			containsAll(t, h.Text("main"), task, "The user prefers JavaScript.")

			h.act("helpful", "query", "which language?", "outcome", "asked for JavaScript")
			h.act("revise", "content", " No: TypeScript, for its types.", "reason", "the user said so")
			h.act("stale", "reason", "a new project")
			h.act("confirm", "reason", "asked the user")
			containsAll(t, h.Text(".timeline"), "No: TypeScript, for its types.", "the user said so", "a new project")
			item := strings.TrimPrefix(h.URL(), w.url)

			h.use(`a[href$="/blame"]`)
			containsAll(t, h.Text(".blame"), "The user prefers JavaScript.", "No: TypeScript, for its types.")
			h.use(`a[href$="/use"]`)
			containsAll(h.t, h.Text("main table"), "asked for JavaScript")

			h.use(".when summary")
			h.use("#back") // before the confirmation
			h.WaitFor("body.past")
			if n := h.Count(`a[href*="/act/"]`); n != 0 {
				t.Errorf("the past offers %d acts", n)
			}
			h.use("#now")
			h.WaitFor("body:not(.past)")

			h.Press("/")
			h.fill("input[type=search]", "typescript")
			h.Press("Enter")
			h.WaitFor(".hit")
			containsAll(t, h.Text(".hits"), task)
			h.use(".hit .weights summary")
			containsAll(t, h.Text(".weights"), "Confidence from")

			h.Go(item)
			h.act("forget", "reason", "a test")
			containsAll(t, h.Text("main"), "forgotten")
			h.act("restore", "reason", "it was needed")
			containsAll(t, h.Text("h1"), task)

			h.Press("g", "l")
			h.WaitFor("main a.entry")
			h.use("main a.entry")
			h.WaitFor(`a[href*="proof?event="]`)
			h.use(`a[href*="proof?event="]`)
			h.use("#own")
			h.use("#verify")
			h.WaitFor("#verdict.good")
			containsAll(t, h.Text("#verdict"), "Verified")
		}
	})
}

// Whoever writes what contradicts something is told so before it is saved, and decides which one holds.
func TestAContradictionIsShownBeforeItIsSaved(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "window", Type: "strategy", Content: "The limit of the gateway is 100 requests"})
		for _, keyboard := range []bool{false, true} {
			h := hand{Page: w.open("/console/remember"), t: t, keyboard: keyboard}
			at := map[bool]string{false: "200", true: "300"}[keyboard]
			h.fill("#content", "The limit of the gateway is "+at+" requests")
			h.use("main form[method=post] > button")
			h.WaitFor("section.refused")
			h.Axe()
			containsAll(t, h.Text("section.refused"), "contradicts it", "The limit of the gateway is", "It is not saved yet")
			for k, err := range w.api.List(t.Context(), nil) {
				if err != nil || strings.Contains(k.Content, at) {
					t.Fatalf("it is saved already: %v", err)
				}
			}
			h.use("button[name=replace]")
			h.WaitFor(".done")
			h.took(2)
			containsAll(t, h.Text("main"), at)
		}
		_, old := w.ask("/console/k/window")
		containsAll(t, old, "superseded")
	})
}

// Home begins with what waits for the reader: there, a disputed item is settled with one click.
func TestHomeShowsWhatWaitsAndItIsSettledFromThere(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		for _, keyboard := range []bool{false, true} {
			if !keyboard {
				w.contradicted()
			}
			h := hand{Page: w.open("/console/"), t: t, keyboard: keyboard}
			h.WaitFor(".sides")
			containsAll(t, h.Text("main"), "Waiting for you", "When do we deploy?", "They may contradict each other.")
			h.use("button[name=stays]")
			h.WaitFor(".done")
			containsAll(t, h.Text(".done"), "takes the place of the others")
			h.took(1)
			h.use("button[value=unmerge]")
			h.WaitFor(".done:not(:has(button))")
			if !keyboard {
				w.propose("contradiction")
			}
		}
		_, page := w.ask("/console/")
		containsAll(t, page, "New to you")
	})
}

// One line asks and filters. Its address can be shared.
func TestALineFindsAndItsAddressIsShared(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		w.contradicted()
		w.remember(client.Knowledge{ID: "other-type", Type: "tool", Content: "We deploy with the release tool."})
		for _, keyboard := range []bool{false, true} {
			h := hand{Page: w.open("/console/search"), t: t, keyboard: keyboard}
			h.fill("main [name=q]", "when do we deploy type:plan owner:default")
			h.use("main form.search .row button")
			h.WaitFor(".hit")
			containsAll(t, h.Text(".hits"), "We deploy on Thursdays", "We deploy on Tuesdays")
			h.took(1)
			shared := w.open(strings.TrimPrefix(h.URL(), w.url))
			containsAll(t, shared.Text(".hits"), "We deploy on Thursdays")
			if strings.Contains(shared.Text(".hits"), "release tool") {
				t.Error("the type is not filtered")
			}
			var line string
			shared.Eval(`document.querySelector("main [name=q]").value`, &line)
			if line != "when do we deploy type:plan owner:user:default" {
				t.Errorf("the line is %q", line)
			}
			h.Go("/console/knowledge")
			h.fill("main [name=q]", "is:disputed")
			h.use("main form .row button")
			h.WaitFor(`a[title="Remove this filter"]`)
			if got := h.Count("tbody tr"); got != 2 {
				t.Errorf("%d items are disputed", got)
			}
			h.Go("/console/log")
			h.fill("main [name=q]", "name:knowledge.remembered tool")
			h.use("main form .row button")
			h.WaitFor(`a[title="Remove this filter"]`)
			containsAll(t, h.Text("main table"), "release tool")
		}
	})
}

// On a phone, an item is found, read and voted for with two taps.
func TestAPhoneFindsReadsAndVotes(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		w.contradicted()
		for _, keyboard := range []bool{false, true} {
			h := hand{Page: w.open("/console/"), t: t, keyboard: keyboard}
			h.Size(400, 800)
			h.fill("header input[type=search]", "when do we deploy")
			h.Press("Enter")
			h.use(".hit h2 a, .hit h3 a")
			h.WaitFor(".acts")
			containsAll(t, h.Text("main"), "We deploy on")
			var top, wide float64
			h.Eval(`document.querySelector("blockquote.said").getBoundingClientRect().top`, &top)
			h.Eval(`document.documentElement.scrollWidth`, &wide)
			if top > 800 || wide > 400 {
				t.Errorf("the text begins at %v pixels, and the page is %v wide", top, wide)
			}
			h.use(".vote [value=helpful]")
			h.WaitFor(".vote [name=undo]")
			containsAll(t, h.Text(".vote"), "Your vote is recorded")
			h.took(2)
		}
	})
}

// The line completes the word at the cursor, and what a reader chose is there when they come again.
func TestAViewIsCompletedByKeysAndSaved(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.contradicted()
		w.remember(client.Knowledge{ID: "tagged", Type: "tool", Content: "Page the leader.", Tags: client.Tags{"domain": {"on call"}}})
		name := "Dora Default"
		request := client.Request{Method: "PUT", Path: []string{"v1", "directory", "user:default"}, Body: api.NewMember{DisplayName: &name}}
		if _, err := w.api.Do(t.Context(), request, nil); err != nil {
			t.Fatal(err)
		}
		p := w.open("/console/search")
		for _, step := range []struct{ typed, option, line string }{
			{"when do we deploy ty", "type:", "when do we deploy type:"},
			{"pl", "type:plan", "when do we deploy type:plan "},
			{"owner:dor", "owner:user:default Dora Default", "when do we deploy type:plan owner:user:default "},
		} {
			p.Type("main [name=q]", step.typed)
			if got := p.Text("#line-list li:only-child"); got != step.option {
				t.Fatalf("%q is completed by %q", step.typed, got)
			}
			p.Axe()
			p.Press("ArrowDown", "Enter")
			var line string
			if p.Eval(`document.querySelector("main [name=q]").value`, &line); line != step.line {
				t.Fatalf("the line is %q, want %q", line, step.line)
			}
		}
		p.Press("Enter")
		p.WaitFor(`main:has(#views [name=next][value*="owner=user"]) .hit`)

		p.Click("#views summary")
		p.Type("#views [name=view]", "Deploys <b>")
		p.Press("Enter")
		p.WaitFor("#views nav [aria-current]")
		p.Go("/console/")
		p.Press("Ctrl+k")
		p.Type("#palette input", "deploys")
		p.Press("Enter")
		p.WaitFor(".hit")
		containsAll(t, p.URL(), "type=plan", "owner=user%3Adefault")
		p.Click("#views summary")
		p.Axe()
		p.Click("#views [name=unview]")
		p.WaitFor("#views:not(:has(nav))")

		p.Go("/console/knowledge")
		p.Click("#columns summary")
		p.Click("#columns [value=tags]")
		p.Click("#columns [value=votes]")
		p.Axe()
		p.Click("#columns button")
		p.WaitFor("td[data-label=Tags]")
		if p.Count("td[data-label=Votes]") != 0 {
			t.Error("a column that was not chosen is shown")
		}
		p.Click("td[data-label=Tags] a")
		p.WaitFor("tbody tr:only-child")
		p.Click("main form details summary")
		p.Type("main select[name=type]", "tool")
		p.Press("Tab")
		var line string
		if p.Eval(`document.querySelector("main [name=q]").value`, &line); line != `tag:"domain:on call" type:tool` {
			t.Errorf("the line is %q", line)
		}
		p.Click("main form .row button")
		p.WaitFor("main p.about a.badge + a.badge")
		containsAll(t, p.Text("tbody"), "Page the leader.")
	})
}
