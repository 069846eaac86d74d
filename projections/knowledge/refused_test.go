package knowledge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// What the knowledge table cannot take in is refused with a reason, and everybody else's commands of the same
// batch are written.
func TestWhatTheKnowledgeTableCannotTakeInIsRefusedAlone(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		for name, poison := range map[string]string{
			"a row that cannot be read": `UPDATE knowledge_1 SET baseline = '"nonsense"' WHERE id = 'bad'`,
			"a row that cannot be written": `CREATE UNIQUE INDEX poison ON knowledge_1 (tenant, helpful)
				WHERE id IN ('bad', 'other') AND helpful > 1`,
		} {
			w := NewRebuilding(t, db, projections.Settings{}).In(strings.ReplaceAll(name, " ", "-"))
			w.Remember("bad", "one thing", "team:pay")
			w.Remember("other", "another thing", "team:pay")
			w.Remember("good", "a third thing", "team:pay")
			w.Submit(w.Helpful("other", "before"))
			NoError(t, Corrupt(t.Context(), db, poison))
			var all []domain.Submission
			for i := range 10 {
				all = append(all, domain.Submission{By: w.By, Command: w.Helpful("good", fmt.Sprint(i))})
			}
			all = append(all, domain.Submission{By: w.By, Command: w.Helpful("bad", "poison")})
			named := "knowledge:bad"
			if name == "a row that cannot be read" { // the answer is that of a read
				named = "what is stored of bad cannot be read"
			}
			for i, result := range w.Log.SubmitAll(t.Context(), all) {
				if i < 10 {
					if result.Err != nil {
						t.Errorf("%s: somebody else's vote: %v", name, result.Err)
					}
					continue
				}
				refusal, ok := errors.AsType[*domain.Refusal](result.Err)
				if !ok || !errors.Is(refusal, domain.ErrBroken) || !strings.Contains(refusal.Detail, named) ||
					!strings.Contains(refusal.Fix, "annals rebuild knowledge --repair") {
					t.Errorf("%s: got %v, want a refusal that names the item and what to do", name, result.Err)
				}
			}
			if head, _, err := w.Log.Reader.Head(t.Context(), w.By.Tenant); err != nil || head != 14 {
				t.Errorf("%s: the log ends at %d, %v, want 14: what was refused is not in it", name, head, err)
			}
		}
	})
}
