package knowledge_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/rebuild"
)

// Every table of a projection that holds what people wrote is behind the wall: of one that was made by the
// owner before there was a wall, of one that a role made that owns nothing, and of one that a rebuild made.
func TestContentIsBehindTheWall(t *testing.T) {
	t.Parallel()
	for name, began := range map[string]bool{"made by the owner": true, "made by the role": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := databasetest.Open(t, databasetest.Migrated(t, database.Postgres))
			if began {
				w := NewWorld(t, owner, projections.Settings{})
				w.Reader()
			}
			app := databasetest.Open(t, databasetest.LetServe(t, owner))
			ctx := database.ForEveryTenant(t.Context())
			w := NewWorld(t, app, projections.Settings{})
			w.Reader()
			for _, tenant := range []string{"acme", "zeta"} {
				w := w.In(tenant)
				w.Remember("k-"+tenant, "the secret of "+tenant, "org:acme")
				w.Submit(domain.GiveFeedback{
					Target: domain.Target{By: w.By, ID: "k-" + tenant}, Verdict: domain.Helpful, TraceID: "t", Query: "?",
				})
				w.Submit(domain.ReportStale{Target: domain.Target{By: w.By, ID: "k-" + tenant}, Reason: "old"})
			}
			rebuilder := rebuild.New(w.Base.Versions, w.Base.Models, w.Log, w.Followers)
			defer rebuilder.Close()
			Must(rebuilder.Start(ctx, domain.RebuildOrder{}))(t)
			NoError(t, rebuilder.Wait(ctx))
			for _, table := range []string{
				"events", "event_texts", "knowledge",
				"knowledge_1", "knowledge_1_votes", "knowledge_1_reports", "knowledge_2", "knowledge_2_votes",
				"knowledge_2_reports",
			} {
				var seen []string
				query := fmt.Sprintf("SELECT DISTINCT tenant FROM %s ORDER BY tenant", table)
				NoError(t, app.NewRaw(query).Scan(database.ForTenant(t.Context(), "acme"), &seen))
				Equal(t, []string{"acme"}, seen, "%s without a predicate", table)
			}
			walls, err := database.Protections(t.Context(), app)
			if err != nil || !walls[2].Stands {
				t.Errorf("doctor says %+v, %v", walls, err)
			}
		})
	}
}
