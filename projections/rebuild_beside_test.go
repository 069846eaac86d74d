package projections_test

import (
	"testing"

	"github.com/annals-kb/annals/domain"
)

func TestUrisChangeHandsWithinABatch(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		move := func(id, uri string) domain.Submission {
			return domain.Submission{By: r.by, Command: domain.Revise{Target: domain.Target{By: r.by, ID: id}, URI: uri}}
		}
		for _, id := range []string{"a", "b", "c"} {
			r.remember(id, "about "+id, "team:pay")
			r.submit(move(id, "viking://x/"+id).Command)
		}
		// a and b change places by way of a third, and c takes that.
		moves := []domain.Submission{
			move("a", "viking://x/aside"), move("b", "viking://x/a"), move("a", "viking://x/b"), move("c", "viking://x/aside"),
		}
		swap := func() {
			for _, result := range r.log.SubmitAll(t.Context(), moves) {
				if result.Err != nil {
					t.Error(result.Err)
				}
			}
		}
		r.at("catching_up", swap) // read by catching up, on top of what was loaded
		r.switches(domain.RebuildOrder{})
		for id, want := range map[string]string{"a": "viking://x/b", "b": "viking://x/a", "c": "viking://x/aside"} {
			if k, err := r.base.Browser.Find(t.Context(), r.by.Tenant, id); err != nil || k.Text.URI != want {
				t.Errorf("%s: got %v (%v), want %s", id, k, err, want)
			}
		}
	})
}
