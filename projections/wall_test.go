package projections_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

// Every table of a projection that holds what people wrote is behind the wall: of one that was made by the
// owner before there was a wall, of one that a role made that owns nothing, and of one that a rebuild made.
func TestContentIsBehindTheWall(t *testing.T) {
	t.Parallel()
	for name, began := range map[string]bool{"made by the owner": true, "made by the role": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := databasetest.Open(t, databasetest.Postgres(t))
			noError(t, database.Migrate(t.Context(), owner))
			if began {
				w := newWorld(t, owner, projections.Settings{})
				w.reader()
			}
			app := databasetest.Open(t, databasetest.LetServe(t, owner))
			ctx := database.ForEveryTenant(t.Context())
			w := newWorld(t, app, projections.Settings{})
			w.reader()
			for _, tenant := range []string{"acme", "zeta"} {
				w := w.in(tenant)
				w.remember("k-"+tenant, "the secret of "+tenant, "org:acme")
				w.submit(domain.GiveFeedback{
					Target: domain.Target{By: w.by, ID: "k-" + tenant}, Verdict: domain.Helpful, TraceID: "t", Query: "?",
				})
				w.submit(domain.ReportStale{Target: domain.Target{By: w.by, ID: "k-" + tenant}, Reason: "old"})
			}
			rebuilder := rebuild.New(w.base.Versions, w.base.Models, w.log, w.followers)
			defer rebuilder.Close()
			must(rebuilder.Start(ctx, domain.RebuildOrder{}))(t)
			noError(t, rebuilder.Wait(ctx))
			for _, table := range []string{
				"events", "event_texts", "knowledge",
				"knowledge_1", "knowledge_1_votes", "knowledge_1_reports", "knowledge_2", "knowledge_2_votes",
				"knowledge_2_reports",
			} {
				var seen []string
				query := fmt.Sprintf("SELECT DISTINCT tenant FROM %s ORDER BY tenant", table)
				noError(t, app.NewRaw(query).Scan(database.ForTenant(t.Context(), "acme"), &seen))
				equal(t, []string{"acme"}, seen, "%s without a predicate", table)
			}
			walls, err := database.Protections(t.Context(), app)
			if err != nil || !walls[2].Stands {
				t.Errorf("doctor says %+v, %v", walls, err)
			}
		})
	}
}
