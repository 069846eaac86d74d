package database

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// work names what a context's transactions joinWork to.
type work struct{}

// ForWork lets the transactions of ctx joinWork to a piece of work, so that another process can end them: see
// [DB.EndWork].
func ForWork(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, work{}, name)
}

// EndWork ends the sessions that are in a transaction of a piece of work, and tells how many they were. A process
// that is held up in the middle of one keeps its locks: the server throws it out only after minutes, and never while
// it waits for rows to copy. What such a transaction has written is undone. On SQLite it does nothing, since the file
// belongs to one process; and so it does for sessions of roles that this one is no member of.
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

// joinWork marks a transaction as part of its context's work.
func (db *DB) joinWork(ctx context.Context, tx bun.Tx) error {
	name, working := ctx.Value(work{}).(string)
	if !working || db.Engine == SQLite {
		return nil
	}
	_, err := tx.NewRaw("SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))", name).Exec(ctx)
	return err
}
