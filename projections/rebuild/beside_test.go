package rebuild_test

import (
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestUrisChangeHandsWithinABatch(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		move := func(id, uri string) domain.Submission {
			return domain.Submission{By: r.By, Command: domain.Revise{Target: domain.Target{By: r.By, ID: id}, URI: uri}}
		}
		for _, id := range []string{"a", "b", "c"} {
			r.Remember(id, "about "+id, "team:pay")
			r.Submit(move(id, "viking://x/"+id).Command)
		}
		// a and b change places by way of a third, and c takes that.
		moves := []domain.Submission{
			move("a", "viking://x/aside"), move("b", "viking://x/a"), move("a", "viking://x/b"), move("c", "viking://x/aside"),
		}
		swap := func() {
			for _, result := range r.Log.SubmitAll(t.Context(), moves) {
				if result.Err != nil {
					t.Error(result.Err)
				}
			}
		}
		r.At("catching_up", swap) // read by catching up, on top of what was loaded
		r.Switches(domain.RebuildOrder{})
		for id, want := range map[string]string{"a": "viking://x/b", "b": "viking://x/a", "c": "viking://x/aside"} {
			if k, err := r.Base.Browser.Find(t.Context(), r.By.Tenant, id); err != nil || k.Text.URI != want {
				t.Errorf("%s: got %v (%v), want %s", id, k, err, want)
			}
		}
	})
}
