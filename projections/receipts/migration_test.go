package receipts_test

import (
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/migrations"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// An upgrade keeps what was recorded as a search or a read of an item as its uses.
func TestRecordedReadsBecomeUses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(2)
		down := Must(migrations.Files.ReadFile(w.DB.Engine.String() + "/0015_receipts.down.sql"))(t)
		databasetest.Tamper(t, w.DB, string(down), "UPDATE schema_migrations SET version = 14", `
			INSERT INTO accesses (tenant, access_id, rank, at, kind, route, status, actor, on_behalf_of, authentication,
				request_id, correlation_id, trace_id, item, score)
			VALUES
				('default', '0190a0a0-0000-7000-8000-000000000001', 1, '2026-03-01T09:00:00.000000Z', 'search', '', 200, '', '', '', '', '', '', 'a', 0),
				('default', '0190a0a0-0000-7000-8000-000000000001', 2, '2026-03-01T09:00:00.000000Z', 'search', '', 200, '', '', '', '', '', '', 'b', 0),
				('default', '0190a0a0-0000-7000-8000-000000000002', 1, '2026-03-01T10:00:00.000000Z', 'get', '', 200, '', '', '', '', '', '', 'a', 0),
				('default', '0190a0a0-0000-7000-8000-000000000003', 1, '2026-03-01T11:00:00.000000Z', 'list', '', 200, '', '', '', '', '', '', 'b', 0),
				('default', '0190a0a0-0000-7000-8000-000000000004', 1, '2026-03-01T12:00:00.000000Z', 'get', '', 200, '', '', '', '', '', '', 'gone', 0)`)
		NoError(t, database.Migrate(t.Context(), w.DB))
		var found []struct {
			Number, Uses int
			At           database.Time `bun:"used_at"`
		}
		NoError(t, w.DB.NewRaw("SELECT number, uses, used_at FROM item_uses ORDER BY number").Scan(t.Context(), &found))
		if len(found) != 2 || found[0].Uses != 2 || found[1].Uses != 1 || found[0].At.String() != "2026-03-01T10:00:00.000000Z" {
			t.Errorf("got uses %+v", found)
		}
	})
}
