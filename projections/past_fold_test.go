package projections_test

import (
	"context"
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// TestWhatAnEarlierFoldSaidOfThePastIsReadAnew opens a database of a program by which an item that was restored
// after it had been superseded and forgotten held again.
func TestWhatAnEarlierFoldSaidOfThePastIsReadAnew(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.remember("old", "tabs are eight columns wide", "team:pay")
		w.remember("new", "tabs are four columns wide", "team:pay")
		target := domain.Target{By: w.by, ID: "old"}
		w.submit(domain.Supersede{Target: target, Successor: "new"})
		w.submit(domain.Delete{Target: target})
		w.submit(domain.Restore{Target: target})
		w.readOn(500)
		want := w.pastTables()
		noError(t, w.db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			for _, was := range []string{
				`UPDATE past_1 SET status = 'active', superseded_by = '' WHERE id = 'old'`,
				`UPDATE projections SET settings = '{"fold":"past/1","tokenizer":"` + text.TokenizerVersion +
					`"}' WHERE name = 'past'`,
			} {
				if _, err := tx.ExecContext(ctx, was); err != nil {
					return err
				}
			}
			return nil
		}))
		w.past = w.reader().Past
		w.readOn(500)
		equal(t, w.pastTables(), want, "(-read anew +what the log says)")
		page, err := w.past.List(t.Context(), domain.List{By: w.by, AsOf: 5})
		if err != nil || !slices.EqualFunc(page.Items, []string{"new"},
			func(k *domain.Knowledge, id string) bool { return k.ID == id }) {
			t.Errorf("what holds is %v, %v", page.Items, err)
		}
	})
}
