package receipts_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

func TestEachReaderSeesTheReceiptsThatAreTheirs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Remember("a", "what a says", "team:pay")
		w.Remember("b", "what b says", "team:ops")
		given := w.answer("a secret question", "a", "b")
		id := w.Give(given)
		steward, stranger := As("user:eve", "team:pay"), As("user:bo", "team:pay")
		steward.Maintains = []domain.Entity{"team:pay"}
		agent := As("agent:coder")
		agent.OnBehalfOf, agent.ActsForOthers = "user:ann", true
		other := agent
		other.OnBehalfOf = "user:bo"
		auditor := domain.Principal{Tenant: "default", Subject: "user:olga", Role: domain.Auditor}
		foreign := auditor
		foreign.Tenant = "acme"
		for name, of := range map[string]struct {
			by    domain.Principal
			items int // that the reader has the receipt of, with a question; -1 for none
			shown int // in their wording
			asked bool
		}{
			"for whom it was given":   {As("user:ann", "team:pay", "team:ops"), 2, 2, true},
			"who left a team":         {As("user:ann", "team:pay"), 2, 1, true},
			"who was given it":        {agent, 2, 0, true},
			"for another":             {other, -1, 0, false},
			"who looks after an item": {steward, 1, 1, false},
			"who only reads it":       {stranger, -1, 0, false},
			"an auditor":              {auditor, 2, 2, true},
			"an admin":                {w.By, 2, 2, true},
			"of another tenant":       {foreign, -1, 0, false},
		} {
			shown, err := w.Show(t.Context(), of.by, id)
			if of.items < 0 {
				if domain.KindOf(err) != domain.KindOf(domain.ErrNotFound) {
					t.Errorf("%s: %v, want not found", name, err)
				}
				continue
			}
			NoError(t, err)
			inFull := 0
			for _, item := range shown.Given {
				if item.Knowledge != nil {
					inFull++
				}
			}
			Equal(t, []any{len(shown.Given), inFull, shown.Question.Text != "", len(shown.Faults)},
				[]any{of.items, of.shown, of.asked, 0}, "%s: items, shown, asked, faults (-got +want)", name)
		}
	})
}

func TestAnErasureOfAPersonErasesTheirQuestions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(1)
		id := w.Give(w.answer("how do we retry?", "a"))
		eraser := projections.NewEraser(w.Base, w.Log, databasetest.Log(t))
		eraser.Questions = w.Receipts
		order := domain.OrderErasure{
			By: w.By, ID: "o1", Of: "user:ann", ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
		}
		w.Submit(Must(order.Complete())(t))
		NoError(t, eraser.CarryOut(t.Context()))
		Equal(t, w.find(id).Question.Text, "", "the question")
		Equal(t, w.verify(), []string(nil), "faults")
	})
}

func TestSecretsAreTakenOutOfQuestions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := receipts.New(t.Context(), receipts.Options{
			DB: w.DB, Log: w.Log, Scrub: events.NewScrubbingWriter(w.Log, true), Logger: databasetest.Log(t),
		})
		id := r.Give(w.answer("why is mia@example.org locked out?"))
		found := Must(r.Find(t.Context(), "default", id))(t)
		if found.Question.Text == "" || strings.Contains(found.Question.Text, "mia@example.org") {
			t.Errorf("got the question %q", found.Question.Text)
		}
		Equal(t, w.verify(), []string(nil), "faults")
	})
}
