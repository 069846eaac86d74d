package follow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
)

// lease is this process's right to work on a projection, until it expires by the database's clock. It only avoids
// duplicate work. The checkpoint ensures that an event takes effect once: each page moves it from the page's
// beginning, in the transaction that writes.
type lease struct {
	followers  *Followers
	projection string
	until      time.Time // by this process's clock, never later than by the database's
}

// Lease says which process works on a projection.
type Lease struct {
	Holder string // host, process and a random part; empty if no process ever worked on it
	Left   time.Duration
}

// Held tells whether a process works on it now. No process does while the projection is up to date.
func (l Lease) Held() bool { return l.Left > 0 }

// errLeaseLost says that another process works on the projection.
var errLeaseLost = errors.New("another process has taken over")

// clock are SQL expressions for the database's clock, now and after a parameter of seconds.
func (l *Followers) clock() (now, later string) {
	if l.db.Engine == database.Postgres {
		return `clock_timestamp()`, `clock_timestamp() + make_interval(secs => ?)`
	}
	return `strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')`, `strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', ? || ' seconds')`
}

// Lease reads the lease of a projection.
func (l *Followers) Lease(ctx context.Context, projection string) (Lease, error) {
	left := `(julianday(expires_at) - julianday('now')) * 86400`
	if l.db.Engine == database.Postgres {
		left = `extract(epoch FROM expires_at - clock_timestamp())::float8`
	}
	var found Lease
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var seconds float64
		err := rows.Scan(&found.Holder, &seconds)
		found.Left = time.Duration(seconds * float64(time.Second))
		return err
	}, `SELECT holder, `+left+` FROM leases WHERE projection = ?`, projection)
	if err != nil {
		return found, fmt.Errorf("read lease of %s: %w", projection, events.Unavailable(err))
	}
	if l.db.Engine == database.SQLite && found.Holder != l.db.InstanceID {
		found.Left = 0 // the file has one owner, so the other process has ended
	}
	return found, nil
}

// takeLease acquires an expired lease. held is false if another process has the lease, or if a newer release has
// migrated the database.
func (l *Followers) takeLease(ctx context.Context, projection string) (taken lease, held bool, err error) {
	taken = lease{followers: l, projection: projection, until: time.Now().Add(l.options.Lease)}
	now, later := l.clock()
	changed, err := l.db.TransactOne(ctx, `
		INSERT INTO leases AS l (projection, holder, expires_at)
		SELECT ?, ?, `+later+`
		WHERE `+l.db.UnlessOutdated()+`
		ON CONFLICT (projection) DO UPDATE
		SET holder = excluded.holder, expires_at = `+later+`
		WHERE l.expires_at <= `+now+` OR ? AND l.holder <> excluded.holder`,
		projection, l.db.InstanceID, l.options.Lease.Seconds(), l.options.Lease.Seconds(), l.db.Engine == database.SQLite)
	if err != nil {
		return lease{}, false, fmt.Errorf("take lease of %s: %w", projection, events.Unavailable(err))
	}
	return taken, changed > 0, nil
}

// renew extends the lease from now. The error is errLeaseLost if another process has it, or if a newer release has
// migrated the database.
func (l *lease) renew(ctx context.Context) error {
	until := time.Now().Add(l.followers.options.Lease)
	_, later := l.followers.clock()
	err := l.update(ctx, later, l.followers.db.UnlessOutdated(), l.followers.options.Lease.Seconds())
	if err == nil {
		l.until = until
	}
	return err
}

// release lets another process acquire the lease at once.
func (l *lease) release(ctx context.Context) error {
	now, _ := l.followers.clock()
	return l.update(ctx, now, "TRUE")
}

func (l *lease) update(ctx context.Context, expires, condition string, args ...any) error {
	changed, err := l.followers.db.TransactOne(ctx, `
		UPDATE leases
		SET expires_at = `+expires+`
		WHERE projection = ? AND holder = ? AND `+condition, append(args, l.projection, l.followers.db.InstanceID)...)
	if err == nil && changed == 0 {
		err = errLeaseLost
	}
	if err != nil {
		return fmt.Errorf("keep lease of %s: %w", l.projection, events.Unavailable(err))
	}
	return nil
}

// RunExclusively runs do if no other process that shares the database runs it under this name; otherwise it does
// nothing. If this process is delayed until its lease expires, another process may take over, and do's context ends.
func (l *Followers) RunExclusively(ctx context.Context, name string, do func(ctx context.Context) error) error {
	held, taken, err := l.takeLease(ctx, name)
	if err != nil || !taken {
		return err
	}
	working, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for {
			select {
			case <-time.After(l.options.Lease / 3):
			case <-working.Done():
				return
			}
			if err := held.renew(working); errors.Is(err, errLeaseLost) {
				cancel(err)
			}
		}
	})
	err = do(working)
	cancel(nil)
	renewing.Wait()
	if left := held.release(context.WithoutCancel(ctx)); !errors.Is(left, errLeaseLost) {
		err = errors.Join(err, left)
	}
	return err
}
