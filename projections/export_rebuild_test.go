package projections

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rebuild"
)

// Corrupt changes a projection behind its back.
func Corrupt(ctx context.Context, db *database.DB, statement string) error {
	return db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		return databasetest.TamperIn(ctx, db.Engine, tx, statement)
	})
}

// LookAgain lets the next transaction know no version, as if nobody had written for a while.
func LookAgain(p *Knowledge) { p.catalogue.VersionSet.Store(&catalogue.VersionSet{}) }

// SmallSteps lets a rebuild work in slices of so many streams and transactions of so many rows.
func SmallSteps(r *rebuild.Rebuilder, streams, rows int) {
	r.SliceStreams, r.Batch.Limit = streams, rows
}

// ClaimFor sets for how long a rebuild may be held up before another process goes on with it.
func ClaimFor(r *rebuild.Rebuilder, lasts time.Duration) { r.LeaseDuration = lasts }

// InRebuild lets transactions of ctx count as steps of a rebuild.
func InRebuild(ctx context.Context) context.Context {
	return database.ForWork(ctx, rebuild.RebuildWork)
}

// KeepBags sets how many bags a tenant keeps, and how many items are moved at once.
func KeepBags(p *Knowledge, rows, items int) { p.PackedRows, p.BatchRows = rows, items }

// CompactAtOnce lets many items be moved together, though somebody has just appended something.
func CompactAtOnce(p *Knowledge) { p.Idle = 0 }

// KeepPostings sets how many items of a scope a search reads of a term.
func KeepPostings(p *Knowledge, most int) { p.Postings = most }
