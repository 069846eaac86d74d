package rebuild_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// A repair mends what cannot even be read, and says so.
func TestARepairMendsWhatCannotBeRead(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		r.Corrupt(`UPDATE knowledge_1 SET baseline = '"nonsense"' WHERE id = 'item-3'`)
		if last := r.Run(); last.State != "failed" {
			t.Fatalf("got version %d %s: %s, want what nobody can compare to be refused", last.Version, last.State, last.Error)
		}
		last := r.RunFor(domain.RebuildOrder{Repair: true})
		if last.State != "active" || last.Report.Unintended != 1 {
			t.Fatalf("got version %d %s: %s, %+v", last.Version, last.State, last.Error, last.Report)
		}
		r.Submit(r.Helpful("item-3", "again"))
	})
}

// What is kept about other streams is mended, too: a key that was changed by hand opens what the log says again.
func TestARepairMendsWhatIsKeptAboutOtherStreams(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		r.Submit(Elsewhere("one", 2))
		r.Submit(Elsewhere("two", 2))
		r.Corrupt(`UPDATE streams SET state = '{}' WHERE stream = 'projection:one'`)
		r.Corrupt(`UPDATE streams SET stream = 'projection:nobody' WHERE stream = 'projection:two'`)
		wrong := func() []string {
			t.Helper()
			checked := Must(projections.Check(t.Context(), r.DB, projections.Settings{}, nil))(t)
			return checked.Wrong
		}
		if got := wrong(); len(got) != 3 {
			t.Fatalf("got %q wrong, want the changed, the missing and the one too many", got)
		}
		r.Switches(domain.RebuildOrder{Repair: true})
		if got := wrong(); len(got) != 0 {
			t.Errorf("got %q wrong after the repair", got)
		}
	})
}

// A rebuild needs every event: one that cannot be taken in ends it, and the message says which.
func TestAPoisonEventEndsARebuildAndIsNamed(t *testing.T) {
	const poison = `UPDATE events SET data = '[]' WHERE tenant = 'default' AND position = %d`
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		wants := func(position int, stream string) {
			t.Helper()
			last := r.Ended()
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
			Must(r.Rebuilder.Start(t.Context(), domain.RebuildOrder{}))(t)
		}
		r.At("catching_up", func() {
			r.Remember("late", "lesson learnt meanwhile", "team:pay")
			databasetest.Tamper(t, r.DB, fmt.Sprintf(poison, 16))
		})
		start()
		wants(16, "knowledge:late")
		r.At("catching_up", func() {})

		databasetest.Tamper(t, r.DB, fmt.Sprintf(poison, 5))
		start()
		wants(5, "knowledge:item-4")
		r.Submit(r.Helpful("item-4", "goes on"))
	})
}
