package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
)

// A vote takes one click or tap where the item is shown, and another takes it back.
func TestAVoteIsGivenAndTakenBackInPlace(t *testing.T) {
	onEachScreen(t, "", func(w *world, h *hand) {
		w.remember(client.Knowledge{ID: "staging", Type: "tool", Content: "The staging host is restarted at night."})
		for _, path := range []string{"/console/search?q=staging", "/console/k/staging"} {
			h.Go(path)
			for verdict, want := range map[string][2]int{"helpful": {2, 0}, "harmful": {1, 1}} {
				h.clicks = 0
				h.use(".vote [value=" + verdict + "]")
				h.WaitFor(".vote [name=undo]")
				h.took(1)
				h.says(".vote", "Your vote is recorded.", "您的投票已记录。")
				w.votes("staging", want)
				h.Axe()
				h.use(".vote [name=undo]")
				h.WaitFor(".vote [value=helpful]")
				w.votes("staging", [2]int{1, 0})
			}
			if got := strings.TrimPrefix(h.URL(), w.url); got != path {
				w.t.Errorf("the page of %s is %s", path, got)
			}
		}
	})
}

// votes compares the helpful and the harmful votes of an item.
func (w *world) votes(id string, want [2]int) {
	w.t.Helper()
	k, err := w.api.Knowledge(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	got := [2]int{*k.Eval.Helpful}
	if k.Eval.Harmful != nil {
		got[1] = *k.Eval.Harmful
	}
	if got != want {
		w.t.Errorf("the votes are %v, want %v", got, want)
	}
}

// Without a script, a vote leads back to its page, which takes it back.
func TestAVoteWithoutAScriptLeadsBackToItsPage(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "staging", Type: "tool", Content: "The staging host is restarted at night."})
		browser := browse(t)
		_, page := w.ask("/console/search?q=staging")
		form := append(formIn(t, page, `<form class="vote`), "next", "/console/search?q=staging")
		status, page := w.send(browser, "/console/k/staging/vote", append(form, "verdict", "helpful")...)
		containsAll(t, page, "Your vote is recorded.", "restarted at night")
		if w.votes("staging", [2]int{2, 0}); status != http.StatusOK {
			t.Errorf("%d", status)
		}
		undo := valueOf(t, page, "undo")
		form = append(formIn(t, page, `<form class="vote`), "next", "/console/search?q=staging", "undo", undo)
		_, page = w.send(browser, "/console/k/staging/vote", form...)
		containsAll(t, page, `value="helpful"`)
		w.votes("staging", [2]int{1, 0})
		if status, _ := w.send(browser, "/console/k/staging/vote", "undo", undo); status != http.StatusNotFound {
			t.Errorf("a vote that was taken back is taken back: %d", status)
		}
	})
}

// A vote and a decision that come too late for the item lead to a page that says so, and keeps what was typed. What is
// near to a new item is no reason to leave what is being typed.
func TestWhatCannotBeDoneInPlaceTakesThePage(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		key, prefix := w.given("user:zoe")
		for _, id := range []string{"hers", "second"} {
			w.remember(client.Knowledge{ID: id, Type: "tool", Content: "The tool " + id + ".", Owner: "user:zoe", Scopes: []string{"user:zoe"}})
		}
		must(w.api.ReportStale(t.Context(), "second", "it moved"))(t)
		h := hand{Page: w.open("/console/login"), t: t}
		h.enter(key, "/console/k/hers")
		if err := w.api.Forget(t.Context(), "hers", "closed"); err != nil {
			t.Fatal(err)
		}
		h.Click(".vote [value=helpful]")
		h.WaitFor("#main > h1:only-of-type + p")
		containsAll(t, h.Text("#main"), "forgotten", "Send it again")
		if h.Count("#main") != 1 || h.Count(".top") != 1 {
			t.Error("a page is inside of a page")
		}
		h.Go("/console/")
		h.Click("article form details:last-of-type summary")
		h.Type("#reason", "I asked the vendor about it.")
		must(w.api.Revise(t.Context(), "second", client.Knowledge{Owner: "user:mia", Scopes: []string{"user:mia"}}))(t)
		h.Click("button[value=confirm]")
		h.WaitFor("#main > form.stack")
		containsAll(t, h.Text("#main"), "What you sent is not lost")
		h.Go("/console/people")
		h.Press("w")
		w.revoke(prefix)
		h.Type("#new-content", "The tool of Zoe is a hammer.")
		h.Eval(`new Promise((done) => document.addEventListener("htmx:after:request", done, { once: true })).then(() => 1)`, nil)
		if h.Count("#remember[open]") != 1 || h.Count("#near") != 1 || h.Count("main nav.tabs") == 0 {
			t.Errorf("the page went away while somebody typed:\n%s", h.Text("body"))
		}
	})
}
