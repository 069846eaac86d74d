package projections

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/annals-kb/annals/database"
)

const (
	claimRebuild   = "SELECT pg_try_advisory_lock(hashtextextended('annals.rebuild', 0))"
	releaseRebuild = "SELECT pg_advisory_unlock(hashtextextended('annals.rebuild', 0))"
)

// claim keeps every other process from working on a rebuild until it is released, or until this
// process ends, however it does. It is not claimed if another process has it. A SQLite file belongs to
// one process anyway.
func (p *Knowledge) claim(ctx context.Context) (release func(), claimed bool, err error) {
	if p.db.Engine != database.Postgres {
		return func() {}, true, nil
	}
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, false, p.failed(ctx, "claim the rebuild", err)
	}
	if err := conn.QueryRowContext(ctx, claimRebuild).Scan(&claimed); err != nil || !claimed {
		conn.Close() //nolint:errcheck // it goes back to its pool
		if err != nil {
			err = p.failed(ctx, "claim the rebuild", err)
		}
		return nil, false, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := conn.ExecContext(ctx, releaseRebuild); err != nil {
			// A connection that cannot let go is closed, which lets go.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		conn.Close() //nolint:errcheck // it goes back to its pool
	}, true, nil
}
