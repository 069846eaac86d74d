package database

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// work is the context key of the name of a piece of work.
type work struct{}

// ForWork assigns the transactions of ctx to a piece of work, so that another process can end them: see [DB.EndWork].
func ForWork(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, work{}, name)
}

// EndWork ends the sessions that are in a transaction of a piece of work, and returns their number. A process that
// hangs in such a transaction keeps its locks: the server ends it only after minutes, and never while it waits for
// rows to copy. The writes of such a transaction are rolled back. EndWork does nothing on SQLite, whose file has one
// process. It skips sessions of roles of which this role is not a member.
func (db *DB) EndWork(ctx context.Context, name string) (ended int, err error) {
	if db.Engine == SQLite {
		return 0, nil
	}
	err = db.NewRaw(`
		SELECT count(pg_terminate_backend(l.pid))
		FROM pg_locks AS l
		JOIN pg_stat_activity AS a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND l.objsubid = 1
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(?, 0)
			AND pg_has_role(a.usesysid, 'MEMBER')`, name).Scan(ctx, &ended)
	if err != nil {
		return 0, Classify(ctx, fmt.Errorf("end %s elsewhere: %w", name, err))
	}
	return ended, nil
}

// joinWork marks a transaction as part of its context's work, and lets its statements take as long as they need.
func (db *DB) joinWork(ctx context.Context, tx bun.Tx) error {
	name, working := ctx.Value(work{}).(string)
	if !working || db.Engine == SQLite {
		return nil
	}
	_, err := tx.NewRaw(
		"SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))", name,
	).Exec(ctx)
	return err
}
