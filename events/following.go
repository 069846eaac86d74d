package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/annals-kb/annals/database"
)

// Following is how a projection gets on with a tenant's log.
type Following struct {
	Position    int64     // how far it has read
	ReadAt      time.Time // when it got there; zero if it has not begun
	Holder      string    // the process that works on it now; empty if none does
	Quarantined int64     // streams that it passes over
	Trouble     error     // why it stands still, as far as this process can tell
	Halted      bool      // for good, until somebody mends it
}

// Follower is how a projection gets on with a tenant's log, whichever process works on it.
func (l *Log) Follower(ctx context.Context, projection, tenant string) (Following, error) {
	c, err := readCheckpoint(ctx, l.db, projection, tenant)
	if err != nil {
		return Following{}, err
	}
	f := Following{Position: c.position, ReadAt: c.updatedAt.Time, Trouble: l.Trouble(projection, tenant)}
	if restored := c.check(projection, tenant); restored != nil {
		f.Trouble = restored
	}
	f.Halted = errors.Is(f.Trouble, ErrRestored) || errors.Is(f.Trouble, ErrHole)
	lease, err := l.Lease(ctx, projection)
	if err != nil {
		return f, err
	}
	if lease.Held() {
		f.Holder = lease.Holder
	}
	if c.changes == 0 {
		return f, nil
	}
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error { return rows.Scan(&f.Quarantined) },
		`SELECT count(*) FROM quarantine WHERE projection = ? AND tenant = ?`, projection, tenant)
	if err != nil {
		return f, fmt.Errorf("count quarantine of %s: %w", projection, unavailable(err))
	}
	return f, nil
}

// Await returns when a projection has read a tenant's log up to a position, in whichever process. It asks
// no more often than every quarter of a second, but for what this process does, which it hears of. The
// error is that of ctx if it ends first.
func (l *Log) Await(ctx context.Context, projection, tenant string, position int64) error {
	const longest = 250 * time.Millisecond
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longest) {
		moved := l.moves.next()
		c, err := readCheckpoint(ctx, l.db, projection, tenant)
		if err != nil {
			return err
		}
		if c.position >= position {
			l.finishing.Lock() // what this process has committed is done, too
			defer l.finishing.Unlock()
			return nil
		}
		select {
		case <-moved:
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
