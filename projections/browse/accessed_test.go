package browse_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// Pages about many items read a row or two of the recorded reads for each item, however often it was read.
func TestNoPageReadsTheReadsOfAnItemAgainAndAgain(t *testing.T) {
	t.Parallel()
	databasetest.Slow(t)
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w, listener := newLoadedWorld(t, db)
		loadAccesses(w)
		reports := w.Reports()
		admin := domain.OpenPrincipal()
		for name, do := range map[string]func() error{
			"overview": func() error { _, err := w.Base.Browser.Count(t.Context(), admin, domain.Filter{}); return err },
			"overview of a scope": func() error {
				_, err := w.Base.Browser.Count(t.Context(), admin, domain.Filter{Scope: "team:pay"})
				return err
			},
			"reviews": func() error {
				_, err := reports.Review(t.Context(), domain.ReviewQuery{Tenant: "default", Limit: 50})
				return err
			},
			"health": func() error {
				_, err := reports.Health(t.Context(), domain.ReportQuery{Tenant: "default"})
				return err
			},
			"uses of an item": func() error {
				_, err := reports.Accesses(t.Context(), domain.AccessQuery{Tenant: "default", Item: "i2", Limit: 50})
				return err
			},
			"denied": func() error {
				_, err := reports.Accesses(t.Context(), domain.AccessQuery{Tenant: "default", Limit: 50})
				return err
			},
		} {
			for _, q := range listener.During(func() { NoError(t, do()) }) {
				switch {
				case !strings.Contains(q.Text, "accesses AS a"):
				case db.Engine == database.SQLite:
					readsAccessesByItem(w, name, q)
				default:
					readsAccessesOnce(w, name, q)
				}
			}
		}
	})
}

// readsAccessesByItem fails the test if SQLite reads the accesses of a tenant for each item.
func readsAccessesByItem(w *World, name string, q Query) {
	w.T.Helper()
	once := false // whether the step is of a subquery that runs once
	for _, step := range w.Steps(q.Text) {
		if strings.Contains(step, "SUBQUERY") {
			once = strings.HasPrefix(step, "SCALAR")
		}
		found := strings.HasPrefix(step, "SEARCH a ") || strings.HasPrefix(step, "SCAN a ")
		if found && !once && !byItem.MatchString(step) {
			w.T.Errorf("%s: %s in\n%s", name, step, q.Text)
		}
	}
}

var byItem = regexp.MustCompile(`INDEX accesses_(item \(tenant=\? AND item=\?|denied \(tenant=\?)`)

// readsAccessesOnce fails the test if PostgreSQL reads more accesses than there are.
func readsAccessesOnce(w *World, name string, q Query) {
	w.T.Helper()
	read := 0.0
	nodes, _ := w.Explained(q, "ANALYZE, ")
	for _, n := range nodes {
		if n.Relation == "accesses" {
			read += (n.Rows + n.Removed) * n.Loops
		}
	}
	if read > accesses {
		w.T.Errorf("%s: %v accesses are read, of %d, in\n%s", name, read, accesses, q.Text)
	}
}

const accesses = 100_000

// loadAccesses records 100,000 accesses: a quarter of each kind, half of them to a hundred items.
func loadAccesses(w *World) {
	w.T.Helper()
	recent := fmt.Sprintf("%012x", time.Now().UnixMilli())
	id := "'" + recent[:8] + "-" + recent[8:] + "-7000-8000-' || printf('%012d', i)"
	if w.DB.Engine == database.Postgres {
		id = "CAST('" + recent[:8] + "-" + recent[8:] + "-7000-8000-' || lpad(i::text, 12, '0') AS uuid)"
	}
	NoError(w.T, w.DB.Transact(w.T.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM knowledge_1_votes;
		INSERT INTO accesses (tenant, access_id, rank, at, kind, route, status, actor, on_behalf_of, authentication,
			request_id, correlation_id, trace_id, item, score)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < `+fmt.Sprint(accesses)+`)
		SELECT 'default', `+id+`, 1, '2026-11-28T00:00:00.000000Z',
			CASE i % 4 WHEN 0 THEN 'search' WHEN 1 THEN 'get' WHEN 2 THEN 'list' ELSE 'review' END, '', 200, 'user:alice', '', '',
			'', '', '', 'i' || (CASE WHEN i % 2 = 0 THEN i % 100 ELSE i % 20000 END), 0
		FROM n`)
		return err
	}))
}
