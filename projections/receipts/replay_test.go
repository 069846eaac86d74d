package receipts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

func (w *world) replay(id string) receipts.Replayed {
	w.T.Helper()
	return Must(w.Replay(w.T.Context(), w.find(id)))(w.T)
}

func TestAnAnswerIsReplayedInTheWordingOfThen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Know("a", domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
			Source: domain.Source{Name: "RFC", URLs: []string{"https://example.org/a?b&c"}},
			Text: domain.Text{
				Task: "retrying <now>", Content: "Never retry\u2028without jitter.", Abstract: "no jitter, no retry",
				Tags: domain.Tags{"category": {"constraint"}},
			},
		})
		w.Remember("b", "what b says", "team:pay")
		given := w.answer("how do we retry?", "a", "b")
		id := w.Give(given)
		brief := w.answer("", "a")
		brief.Items[0].Level = domain.Abstract
		short := w.Give(brief)
		bytesOf := func(id string) string { a := w.replay(id); return string(a.Canonical()) }
		canonical := map[string]string{id: bytesOf(id), short: bytesOf(short)}
		Equal(t, w.replay(id).Given[0].Knowledge.Text.Content, given.Items[0].Item.Text.Content, "content")
		Equal(t, w.replay(short).Given[0].Knowledge.Text.Content, "no jitter, no retry", "content of the abstract")

		target := domain.Target{By: w.By, ID: "a"}
		*w.now = w.now.Add(time.Hour)
		w.Submit(domain.Revise{Target: target, Changes: domain.Revised{Content: new("Retry as you like."), Abstract: new("retry")}})
		w.Submit(domain.GiveFeedback{Target: target, Verdict: domain.Harmful, TraceID: "t-1"})
		w.Submit(domain.Supersede{Target: target, Successor: "b"})
		again := w.begin(0)
		for id := range canonical {
			a := again.replay(id)
			Equal(t, string(a.Canonical()), canonical[id], "%s (-now +then)", id)
			Equal(t, a.Faults, []string(nil), "faults")
		}
	})
}

func TestAnErasedItemOfAnAnswerIsShownAsErased(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(2)
		id := w.Give(w.answer("how do we retry?", "a", "b"))
		before := w.replay(id)
		erased := w.Submit(domain.Erase{Target: domain.Target{By: w.By, ID: "a"}, ErasureReason: domain.ErasureReason{ReasonCode: "x"}})
		a := w.replay(id)
		if a.Given[0].Knowledge != nil || !a.Given[0].Erased || a.Given[0].Certificate != erased.Events[0].EventID {
			t.Errorf("got %+v, want it erased by %s", a.Given[0], erased.Events[0].EventID)
		}
		Equal(t, a.Given[1], before.Given[1], "the other item (-got +want)")
		Equal(t, a.Faults, []string(nil), "faults")
		if strings.Contains(string(a.Canonical()), "what a says") {
			t.Errorf("an erased text is shown: %s", a.Canonical())
		}
	})
}

func TestWhatAReaderMayNotSeeIsHidden(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(2)
		a := w.replay(w.Give(w.answer("", "a", "b")))
		digest := a.Given[0].Digest
		a.Hide(func(id string) bool { return id == "b" })
		text := string(a.Canonical())
		if strings.Contains(text, "what a says") || !strings.Contains(text, digest) || !strings.Contains(text, "what b says") {
			t.Errorf("got %s", text)
		}
	})
}
