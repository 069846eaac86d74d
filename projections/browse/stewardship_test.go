package browse_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestItemsWaitForTheirVerificationTheirOwnerOrAnyUse(t *testing.T) {
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	EachAt(t, day, func(t *testing.T, w *World, now *time.Time) {
		about := func(e domain.Entity) domain.OfDirectory { return domain.OfDirectory{By: w.By, Member: e} }
		for _, e := range []domain.Entity{"team:pay", "user:ann", "user:ben", "user:zoe"} {
			w.Submit(domain.PutMember{OfDirectory: about(e)})
		}
		w.Submit(domain.JoinGroup{OfDirectory: about("user:ann"), Group: "team:pay", Role: domain.Maintainer})
		w.Submit(domain.JoinGroup{OfDirectory: about("user:ben"), Group: "team:pay"})
		owner := string(w.By.Subject)
		for id, scope := range map[string]domain.Scope{"window": "team:pay", "kept": "team:pay", "other": "org:acme"} {
			w.Know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Plan}, Owner: w.By.Subject, Scopes: []domain.Scope{scope}, Text: domain.Text{Content: "the deploy window: " + id},
			})
		}
		as := func(e domain.Entity) *domain.Principal {
			p := w.By
			p.Subject = e
			return &p
		}
		reports := w.Reports()
		waits := func(q domain.ReviewQuery) (list []string) {
			t.Helper()
			q.Tenant, q.Limit = domain.DefaultTenant, 10
			page := Must(reports.Review(t.Context(), q))(t)
			for _, r := range page.Items {
				for _, why := range r.Reasons {
					list = append(list, fmt.Sprint(r.Item.ID, " ", why.Queue, " ", why.Since.Sub(day).Hours()/24, " ",
						r.Assigned.Why, " ", r.Assigned.To))
				}
			}
			slices.Sort(list)
			return list
		}
		same := func(got []string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error(diff)
			}
		}
		set := func(scope domain.Scope, days int, verifier domain.Entity) {
			t.Helper()
			w.Submit(domain.SetPolicy{
				OfPolicy:  domain.OfPolicy{By: w.By, PolicyKey: domain.PolicyKey{Scope: scope}},
				EveryDays: days, Verifier: verifier,
			})
		}
		set("", 30, "")
		set("team:pay", 60, "user:ben")
		*now = day.AddDate(0, 0, 31)
		same(waits(domain.ReviewQuery{}), "other verification_due 30 owner ["+owner+"]")
		*now = day.AddDate(0, 0, 61)
		w.Submit(domain.Confirm{Target: domain.Target{By: w.By, ID: "kept"}})
		window := "window verification_due 60 verifier [user:ben]"
		same(waits(domain.ReviewQuery{Queue: domain.QueueVerificationDue, Scope: "team:pay"}), window)
		same(waits(domain.ReviewQuery{Assigned: "user:ben"}), window)
		same(waits(domain.ReviewQuery{Mine: as("user:ben")}), window)
		same(waits(domain.ReviewQuery{Mine: as("user:zoe")}))
		same(waits(domain.ReviewQuery{Mine: &w.By}), "other verification_due 30 owner ["+owner+"]", window) // both are hers

		// whose verifier and owner left is for the maintainers
		for _, gone := range []domain.Entity{"user:ben", domain.Entity(owner)} {
			if gone == "user:ben" {
				w.Submit(domain.LeaveGroup{OfDirectory: about(gone), Group: "team:pay"})
				continue
			}
			w.Submit(domain.PutMember{OfDirectory: about(gone)})
			w.Submit(domain.DeactivateMember{OfDirectory: domain.OfDirectory{By: *as("user:root"), Member: gone}})
		}
		maintained := []string{
			"kept owner_deactivated 61 maintainer [user:ann]", "window owner_deactivated 61 maintainer [user:ann]",
			"window verification_due 60 maintainer [user:ann]",
		}
		same(waits(domain.ReviewQuery{Assigned: "user:ann"}), maintained...)
		ann := as("user:ann")
		ann.Maintains = []domain.Entity{"team:pay"}
		same(waits(domain.ReviewQuery{Mine: ann}), maintained...)
		same(waits(domain.ReviewQuery{Queue: domain.QueueOwnerDeactivated, Scope: "org:acme"}),
			"other owner_deactivated 61 maintainer []", "other verification_due 30 maintainer []")
		w.Submit(domain.DeactivateMember{OfDirectory: about("team:pay")})
		same(waits(domain.ReviewQuery{Assigned: "user:ann"}))
		w.Submit(domain.DeactivateMember{OfDirectory: about("team:pay"), Again: true})
		w.Submit(domain.DeactivateMember{OfDirectory: about(domain.Entity(owner)), Again: true})

		// unused, as far as uses are recorded
		*now = day.AddDate(0, 0, 400)
		same(waits(domain.ReviewQuery{Queue: domain.QueueUnused}))
		record(t, w, *now, "other")
		same(waits(domain.ReviewQuery{Queue: domain.QueueUnused}),
			"window unused 0 owner ["+owner+"]", "window verification_due 60 owner ["+owner+"]")
	})
}

// record records that an item was used.
func record(t *testing.T, w *World, at time.Time, id string) {
	t.Helper()
	NoError(t, w.DB.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO item_uses (tenant, number, uses, used_at)
			SELECT tenant, position, 1, ?
			FROM events
			WHERE tenant = ? AND stream = ? AND version = 1`, database.At(at), domain.DefaultTenant, domain.KnowledgeStream(id))
		return err
	}))
}
