package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// Job 3: one key opens a box over any page, the text is compared while it is typed, and Ctrl+Enter saves it.
func TestSomethingIsWrittenDownWithOneKeyAndAWarningWhileTyping(t *testing.T) {
	onEachScreen(t, rootKey, func(w *world, h *hand) {
		w.remember(client.Knowledge{
			ID: "hers", Type: "strategy", Content: "We deploy on Tuesdays at ten.", Owner: "user:zoe", Scopes: []string{"team:pay"},
		})
		key := w.issued(map[string]any{"subject": "user:mia", "memberships": []string{"project:shop", "team:pay"}})
		h.Type("#key", key)
		h.Click("main form button")
		h.WaitFor("#write")
		for _, path := range []string{"/console/people", "/console/k/hers", "/console/review"} {
			h.Go(path)
			h.clicks = 0
			h.key("w")
			h.WaitFor("#remember[open] textarea")
			var scope string
			if h.Eval(`document.querySelector("#new-scope").value`, &scope); scope != "team:pay" {
				h.t.Errorf("%s: it would be for %q", path, scope)
			}
		}
		h.fill("#remember textarea", "We deploy on Thursdays at ten.")
		h.WaitFor("#near mark")
		h.Axe()
		h.says("#near h2", "Already written, and near it:", "已有人写过相近的内容：")
		containsAll(h.t, h.Text("#near mark"), "Tuesdays")
		if h.Count("#near [name=step], #near [name=replace]") != 0 {
			h.t.Error("acts are offered that the reader may not do")
		}
		h.Eval(`document.querySelector("#remember textarea").value = ""`, nil)
		h.fill("#remember textarea", "The invoices of March lie on the second shelf.")
		h.key("Ctrl+Enter")
		h.WaitFor(".done")
		h.took(2)
		h.says(".done", "It is remembered.", "已记住。")
		containsAll(h.t, h.Text("main"), "The invoices of March lie on the second shelf.")
	})
}

func TestTheBoxLeadsToTheWholeFormAndLosesNothing(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		p := w.open("/console/people")
		p.Press("?")
		containsAll(t, p.Text("#keys"), "Remember something")
		p.Click("#keys form button")
		p.Press("w")
		p.Type("#remember textarea", "w is typed, and g h too")
		p.Press("Escape", "w")
		var kept string
		if p.Eval(`document.querySelector("#remember textarea").value`, &kept); kept != "w is typed, and g h too" {
			t.Errorf("the box has %q", kept)
		}
		p.Click("#remember button[value=more]")
		p.WaitFor("#content")
		if p.Eval(`document.querySelector("#content").value`, &kept); kept != "w is typed, and g h too" || w.items() != 0 {
			t.Errorf("the form has %q, and there are %d items", kept, w.items())
		}
		p.Press("Ctrl+Enter") // the text has the focus
		p.WaitFor(".done")
		for _, path := range []string{"/console/people?as_of=1", "/console/remember"} {
			if _, page := w.ask(path); strings.Contains(page, `<dialog id="remember"`) {
				t.Errorf("%s has a box", path)
			}
		}
	})
}

// What is saved is not called unsaved, and what would be removed is said before it is saved.
func TestNothingIsCalledUnsavedThatIsSaved(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		const content = "We deploy on Tuesdays at ten."
		browser := browse(t)
		for range 2 {
			_, page := w.ask("/console/remember")
			_, page = w.send(browser, "/console/remember", hidden(t, page, "content", content)...)
			if strings.Contains(page, "not saved yet") {
				t.Errorf("what is saved is called unsaved:\n%s", page)
			}
			if strings.Contains(page, "known already") || strings.Contains(page, "saved already") {
				containsAll(t, page, "It is saved already, in the same words")
				if strings.Contains(page, `name="keep"`) {
					t.Error("a copy is offered")
				}
			}
		}
		if got := w.items(); got != 1 {
			t.Errorf("there are %d items", got)
		}
		p := w.open("/console/people")
		p.Press("w")
		p.Type("#remember textarea", "Call the office: 13812345678.")
		p.Press("Ctrl+Enter")
		p.WaitFor("main .refused")
		if containsAll(t, p.Text("main .refused"), "Something in it would be removed", "phone number: 1"); w.items() != 1 {
			t.Error("it is saved")
		}
		status, _, body := servertest.Send(t, http.DefaultClient, servertest.Request(t, http.MethodPost,
			w.url+"/console/remember?step=near", "content=x", "Content-Type: application/x-www-form-urlencoded"))
		if status != http.StatusOK || w.items() != 1 {
			t.Errorf("what is being typed: %d, %d items\n%s", status, w.items(), body)
		}
	})
}

func TestThePaletteTellsItemsOfOneTitleApart(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.staff()
		for _, owner := range []string{"user:mia", "user:zoe"} {
			w.remember(client.Knowledge{Type: "plan", Task: "When do we deploy?", Content: "As " + owner + " says.", Owner: owner, Scopes: []string{"team:pay"}})
		}
		w.remember(client.Knowledge{Type: "plan", Task: "متى ندفع الرواتب؟", Content: "ادفع يوم الاثنين", Scopes: []string{"public"}})
		w.remember(client.Knowledge{Type: "tool", Content: "gateway" + strings.Repeat("😀x", 8<<10), Scopes: []string{"public"}})
		p := w.open("/console/people")
		p.Press("Ctrl+k")
		p.Type("#palette input", "remember some")
		containsAll(t, p.Text("#palette li[aria-selected=true]"), "Remember something")
		p.Press("Enter")
		p.WaitFor("#remember[open]")
		for typed, want := range map[string][]string{
			"when do we deploy": {"米娅 Mia · ", "zoe · "}, "الرواتب": {"متى ندفع الرواتب؟", "default · "}, "gateway": {"gateway😀x", "… item · default · "},
		} {
			p.Press("Ctrl+k")
			p.Type("#palette input", typed)
			p.WaitFor("#palette li")
			containsAll(t, p.Text("#palette ul"), want...)
			p.Axe()
			p.Press("Escape")
		}
		p.Press("Ctrl+k")
		p.Paste("#palette input", strings.Repeat("gateway ", 8<<10))
		p.WaitFor("#palette li")
		var wide int
		p.Size(390, 800)
		if p.Eval("document.documentElement.scrollWidth", &wide); wide > 390 {
			t.Errorf("the page is %d pixels wide", wide)
		}
	})
}
