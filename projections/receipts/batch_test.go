package receipts_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

// primary is the primary's server of a world, as a server on a standby reaches it.
type primary struct {
	*world
	down     bool // it gets no batches
	silent   bool // its answers are lost
	promoted bool // the standby is
}

func (p *primary) Needed() bool { return !p.promoted }

func (p *primary) Send(ctx context.Context, _ string, batch, answer any) error {
	if p.down {
		return errors.New("it cannot be reached")
	}
	if b, begins := batch.(receipts.Batch); begins && b.Run == 0 {
		b.Server = "standby" // which has the database open, too
		batch = b
	}
	sent := Must(json.Marshal(batch))(p.T)
	taken, err := p.TakeBatch(ctx, func(batch any) error { return json.Unmarshal(sent, batch) })
	NoError(p.T, err)
	if p.silent {
		return errors.New("it does not answer")
	}
	return json.Unmarshal(Must(json.Marshal(taken))(p.T), answer)
}

// standby is a server on a standby of a world.
func (w *world) standby() (*primary, *world) {
	p := &primary{world: w}
	return p, w.beginWith(receipts.Options{Primary: p})
}

func TestABatchIsRecordedOnceHoweverOftenItArrives(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(1)
		p, standby := w.standby()
		w.beginWith(receipts.Options{Primary: p}) // as after a lost answer
		p.silent = true
		var given []string
		for range 2 {
			given = append([]string{standby.Give(w.answer("how do we retry?", "a"))}, given...)
			standby.end()
		}
		*w.now = w.now.Add(10 * time.Minute)
		NoError(t, w.Seal(t.Context())) // merges the two pages
		p.silent = false
		given = append([]string{standby.Give(w.answer("and then?", "a"))}, given...)
		standby.end()
		Equal(t, given, []string{"r2-3", "r2-2", "r2-1"}, "given (-got +want)")
		Equal(t, w.ids(receipts.Query{}), given, "recorded (-got +want)")
		Equal(t, w.find("r2-1").Question.Text, "how do we retry?", "the question")
		Equal(t, w.Number("SELECT uses FROM item_uses"), 3, "uses")
		*w.now = w.now.Add(10 * time.Minute)
		NoError(t, w.Seal(t.Context()))
		Equal(t, w.verify(), []string(nil), "faults")
		Equal(t, Must(w.Gaps(t.Context(), "default"))(t), []receipts.Gap(nil), "gaps")
	})
}

func TestReceiptsWaitForThePrimaryAndAPromotedStandbyKeepsThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, standby := w.standby()
		p.down = true
		id := standby.Give(w.answer("?"))
		NoError(t, standby.Flush(t.Context())) // reading receipts does not wait for the primary
		standby.end()
		Equal(t, w.ids(receipts.Query{}), []string(nil), "before the promotion")
		p.promoted = true
		standby.end()
		Equal(t, w.ids(receipts.Query{}), []string{id}, "after it")
		Equal(t, Must(w.Gaps(t.Context(), "default"))(t), []receipts.Gap(nil), "gaps")
	})
}

// A question that waited for the primary does not come back after the erasure of the person who asked.
func TestABatchThatArrivesLateHasNoErasedQuestions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, standby := w.standby()
		anns := standby.Give(w.answer("what do I owe?"))
		given := w.answer("how do we retry?")
		given.OnBehalfOf = "user:ben"
		bens := standby.Give(given)
		*w.now = w.now.Add(time.Minute)
		order := domain.OrderErasure{
			By: w.By, ID: "o1", Of: "user:ann", ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
		}
		w.Submit(Must(order.Complete())(t))
		standby.end()
		Equal(t, w.find(anns).Question.Text, "", "her question")
		Equal(t, w.find(bens).Question.Text, "how do we retry?", "another's")
		Equal(t, p.verify(), []string(nil), "faults")
	})
}
