package vectors_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// Tables of meaning in another form are made again, and searches use words meanwhile. No text whose vector can be
// read is sent to the model again.
func TestMeaningInAnotherFormIsMadeAgain(t *testing.T) {
	t.Parallel()
	for change, again := range map[string]bool{
		"ALTER TABLE meaning_2 DROP COLUMN sketch":                     false,
		"ALTER TABLE meaning_2 ADD COLUMN mood text":                   false,
		"ALTER TABLE vectors_2 RENAME COLUMN vector TO representation": true,
		"DROP TABLE vectors_2":                                         true,
	} {
		databasetest.Each(t, func(t *testing.T, db *database.DB) {
			e := newEndpoint(t)
			settings := projections.Settings{Embedder: e.model(t, "small")}
			before, stop := Served(t, db, settings)
			before.Remember("item", "retry with backoff", "team:pay")
			before.Until("the item has a vector", func() bool { return before.Lag() == 0 })
			stop()
			Report(t, Corrupt(t.Context(), db, change))
			w, _ := Served(t, db, settings)
			hit := func() domain.Hit { return w.Search(domain.Search{Text: "backoff"}).Hits[0].Hit }
			Equal(t, hit().ID, "item", "found at once")
			w.Remember("later", "wait and try once more", "team:pay")
			w.Until("the item is found by meaning", func() bool { return hit().Model > 0 })
			for text, times := range e.times("small") {
				if strings.Contains(text, "retry") && times > 1 != again {
					t.Errorf("%s: the model was asked %d times for %q", change, times, text)
				}
			}
			Equal(t, w.Spaces(), []string{"builtin-2 ready", "openai:small:96 active"}, "spaces (-got +want)")
			Equal(t, NewWorld(t, db, settings).Spaces(), w.Spaces(), "spaces of the next start (-got +want)")
		})
	}
}
