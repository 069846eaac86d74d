package browse_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/migrations"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestAPairWaitsForWhoMaySeeIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		reports := w.Reports()
		items := map[string]*domain.Knowledge{}
		for _, of := range []struct {
			id    string
			owner domain.Entity
			scope domain.Scope
		}{{"old", "user:ann", "team:pay"}, {"new", "user:ben", "team:pay"}, {"secret", "user:ben", "user:ben"}} {
			items[of.id] = w.Know(of.id, domain.Remembered{
				Class: domain.Class{Type: domain.Plan}, Owner: of.owner, Scopes: []domain.Scope{of.scope}, Text: domain.Text{Content: of.id},
			}).Knowledge
		}
		propose := func(kind domain.ProposalKind, a, b string) {
			t.Helper()
			two := []*domain.Knowledge{items[a], items[b]}
			w.Submit(domain.ProposeReview{By: w.By, ID: domain.ProposalID(kind, two), Kind: kind, Items: []string{a, b}, Score: 0.5})
		}
		propose(domain.Contradiction, "new", "old")
		propose(domain.Duplicate, "old", "secret")

		as := func(e domain.Entity) *domain.Principal {
			return &domain.Principal{Tenant: domain.DefaultTenant, Subject: e, Role: domain.Member, Memberships: []domain.Entity{"team:pay"}}
		}
		waits := func(q domain.ReviewQuery) (list []string) {
			t.Helper()
			q.Tenant, q.Limit = domain.DefaultTenant, 10
			for _, r := range Must(reports.Review(t.Context(), q))(t).Items {
				list = append(list, fmt.Sprint(r.Item.ID, " ", r.Reasons[0].Queue, " ", r.Pair.Items[0].ID))
			}
			return list
		}
		same := func(got []string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error(diff)
			}
		}
		ann, ben := as("user:ann"), as("user:ben")
		everything := func() {
			t.Helper()
			same(waits(domain.ReviewQuery{Only: ann}), "new contradiction old")
			same(waits(domain.ReviewQuery{Only: ann, Mine: ann}), "old contradiction new")
			same(waits(domain.ReviewQuery{Only: ann, Owner: "user:ann"}), "old contradiction new")
			same(waits(domain.ReviewQuery{Only: ann, Assigned: "user:ann"}), "old contradiction new")
			same(waits(domain.ReviewQuery{Only: ann, Queue: domain.QueueDuplicate}))
			same(waits(domain.ReviewQuery{Only: ben, Mine: ben}), "new contradiction old", "secret duplicate old")
		}
		everything()

		// many newer proposals about what they may not see
		NoError(t, Corrupt(t.Context(), w.DB, `
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
			INSERT INTO proposals (tenant, proposal, item, kind, score, at, is_open)
			SELECT 'default', 'p' || i, 'nothing', 'contradiction', 1, '2100-01-01T00:00:00.000000Z', TRUE
			FROM n`))
		everything()

		// the log alone is enough, for the migration, too
		for _, step := range []string{"down", "up"} {
			file := Must(migrations.Files.ReadFile(fmt.Sprintf("%s/0012_proposals.%s.sql", w.DB.Engine, step)))(t)
			NoError(t, Corrupt(t.Context(), w.DB, string(file)))
		}
		everything()
		NoError(t, Corrupt(t.Context(), w.DB, "DELETE FROM streams"))
		everything()
		NoError(t, Corrupt(t.Context(), w.DB, "DELETE FROM proposals"))
		same(waits(domain.ReviewQuery{}))
		wrong := Must(events.SnapshotOf(w.DB).CheckStates(t.Context(), domain.DefaultTenant))(t)
		NoError(t, w.Log.RepairStates(t.Context(), domain.DefaultTenant, wrong))
		everything()

		NoError(t, Corrupt(t.Context(), w.DB, `
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
			INSERT INTO proposals (tenant, proposal, item, kind, score, at, is_open)
			SELECT 'default', 'p' || i, 'old', 'contradiction', 1, '2100-01-01T00:00:00.000000Z', TRUE
			FROM n`))
		page := Must(reports.Review(t.Context(), domain.ReviewQuery{Tenant: domain.DefaultTenant, Only: ann, Limit: 10}))(t)
		if got := page.Queues[domain.QueueContradiction]; got != (domain.QueueLength{Items: 1, More: true}) {
			t.Errorf("beyond the limit: %+v", got)
		}
	})
}
