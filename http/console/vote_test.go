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
