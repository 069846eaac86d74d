package projections_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
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
			w := newRebuilding(t, db, projections.Settings{}).in(strings.ReplaceAll(name, " ", "-"))
			w.remember("bad", "one thing", "team:pay")
			w.remember("other", "another thing", "team:pay")
			w.remember("good", "a third thing", "team:pay")
			w.submit(w.helpful("other", "before"))
			noError(t, corrupt(t.Context(), db, poison))
			var all []domain.Submission
			for i := range 10 {
				all = append(all, domain.Submission{By: w.by, Command: w.helpful("good", fmt.Sprint(i))})
			}
			all = append(all, domain.Submission{By: w.by, Command: w.helpful("bad", "poison")})
			named := "knowledge:bad"
			if name == "a row that cannot be read" { // the answer is that of a read
				named = "what is stored of bad cannot be read"
			}
			for i, result := range w.log.SubmitAll(t.Context(), all) {
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
			if head, _, err := w.log.Reader.Head(t.Context(), w.by.Tenant); err != nil || head != 14 {
				t.Errorf("%s: the log ends at %d, %v, want 14: what was refused is not in it", name, head, err)
			}
		}
	})
}

func (w *world) helpful(id, trace string) domain.Command {
	by := w.by
	by.OnBehalfOf = domain.Entity("user:" + trace)
	return domain.GiveFeedback{Target: domain.Target{By: by, ID: id}, Verdict: domain.Helpful, TraceID: trace}
}

// A repair mends what cannot even be read, and says so.
func TestARepairMendsWhatCannotBeRead(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		r.corrupt(`UPDATE knowledge_1 SET baseline = '"nonsense"' WHERE id = 'item-3'`)
		if last := r.run(); last.State != "failed" {
			t.Fatalf("got version %d %s: %s, want what nobody can compare to be refused", last.Version, last.State, last.Error)
		}
		last := r.runFor(domain.RebuildOrder{Repair: true})
		if last.State != "active" || last.Report.Unintended != 1 {
			t.Fatalf("got version %d %s: %s, %+v", last.Version, last.State, last.Error, last.Report)
		}
		r.submit(r.helpful("item-3", "again"))
	})
}

// What is kept about other streams is mended, too: a key that was changed by hand opens what the log says again.
func TestARepairMendsWhatIsKeptAboutOtherStreams(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		r.submit(elsewhere("one", 2))
		r.submit(elsewhere("two", 2))
		r.corrupt(`UPDATE streams SET state = '{}' WHERE stream = 'projection:one'`)
		r.corrupt(`UPDATE streams SET stream = 'projection:nobody' WHERE stream = 'projection:two'`)
		wrong := func() []string {
			t.Helper()
			checked := must(projections.Check(t.Context(), r.db, projections.Settings{}, nil))(t)
			return checked.Wrong
		}
		if got := wrong(); len(got) != 3 {
			t.Fatalf("got %q wrong, want the changed, the missing and the one too many", got)
		}
		r.switches(domain.RebuildOrder{Repair: true})
		if got := wrong(); len(got) != 0 {
			t.Errorf("got %q wrong after the repair", got)
		}
	})
}

// A rebuild needs every event: one that cannot be taken in ends it, and the message says which.
func TestAPoisonEventEndsARebuildAndIsNamed(t *testing.T) {
	const poison = `UPDATE events SET data = '[]' WHERE tenant = 'default' AND position = %d`
	eachLived(t, func(t *testing.T, r *rebuilding) {
		wants := func(position int, stream string) {
			t.Helper()
			last := r.ended()
			if last.State != "failed" || last.Active != 1 {
				t.Fatalf("got version %d %s, version %d active, want it to be given up", last.Version, last.State, last.Active)
			}
			for _, part := range []string{fmt.Sprintf("position %d of tenant default, %s: ", position, stream), "knowledge."} {
				if !strings.Contains(last.Error, part) {
					t.Errorf("got %q, want it to name %s", last.Error, part)
				}
			}
			if strings.Contains(last.Error, "lesson") {
				t.Errorf("%q repeats what people wrote", last.Error)
			}
		}
		start := func() {
			t.Helper()
			must(r.Start(t.Context(), domain.RebuildOrder{}))(t)
		}
		r.at("catching_up", func() {
			r.remember("late", "lesson learnt meanwhile", "team:pay")
			databasetest.Tamper(t, r.db, fmt.Sprintf(poison, 16))
		})
		start()
		wants(16, "knowledge:late")
		r.at("catching_up", func() {})

		databasetest.Tamper(t, r.db, fmt.Sprintf(poison, 5))
		start()
		wants(5, "knowledge:item-4")
		r.submit(r.helpful("item-4", "goes on"))
	})
}
