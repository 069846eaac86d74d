package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// lease is this process's right to work on a projection, until the database's clock says that it has
// ended. Its term is what counts: whoever writes for the projection does so under the term of its lease,
// and is refused when there is a newer one. So a process that was held up, and does not know yet that
// another one has taken over, changes nothing.
type lease struct {
	log        *Log
	projection string
	term       int64
	until      time.Time          // by this process's clock; by the database's it ends no earlier
	lose       context.CancelFunc // ends the work under it
}

// Lease is who works on a projection.
type Lease struct {
	Holder string // host, process and something random; empty if nobody ever worked on it
	Term   int64  // how often it has changed hands
	Left   time.Duration
}

// Held tells whether somebody works on it now. Nobody does while there is nothing to do.
func (l Lease) Held() bool { return l.Left > 0 }

// errFenced says that another process works on the projection under a newer term.
var errFenced = errors.New("another process has taken over")

// moments are the database's own clock, and that in so many seconds.
func (l *Log) moments() (now, later string) {
	if l.db.Engine == database.Postgres {
		return `clock_timestamp()`, `clock_timestamp() + make_interval(secs => ?)`
	}
	return `strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')`, `strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', ? || ' seconds')`
}

// Lease looks who works on a projection.
func (l *Log) Lease(ctx context.Context, projection string) (Lease, error) {
	left := `(julianday(expires_at) - julianday('now')) * 86400`
	if l.db.Engine == database.Postgres {
		left = `extract(epoch FROM expires_at - clock_timestamp())::float8`
	}
	var found Lease
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var seconds float64
		err := rows.Scan(&found.Holder, &found.Term, &seconds)
		found.Left = time.Duration(seconds * float64(time.Second))
		return err
	}, `SELECT holder, term, `+left+` FROM leases WHERE projection = ?`, projection)
	if err != nil {
		return found, fmt.Errorf("read lease of %s: %w", projection, unavailable(err))
	}
	if l.db.Engine == database.SQLite && found.Holder != l.db.InstanceID {
		found.Left = 0 // the file has one owner: whoever else it was is gone
	}
	return found, nil
}

// takeLease takes a lease that has ended, and waits for what is still being written under it. The second
// result tells whether it has; another process may have been faster.
func (l *Log) takeLease(ctx context.Context, projection string) (lease, bool, error) {
	taken := lease{log: l, projection: projection, until: time.Now().Add(l.options.Lease)}
	now, later := l.moments()
	upsert := l.db.QueryGen().FormatQuery(`
		INSERT INTO leases AS l (projection, holder, term, expires_at)
		VALUES (?, ?, 1, `+later+`)
		ON CONFLICT (projection) DO UPDATE
		SET holder = excluded.holder, term = l.term + 1, expires_at = `+later+`
		WHERE l.expires_at <= `+now+` OR ? AND l.holder <> excluded.holder
		RETURNING term`,
		projection, l.db.InstanceID, l.options.Lease.Seconds(), l.options.Lease.Seconds(), l.db.Engine == database.SQLite)
	err := l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		return Do(ctx, tx, append(l.whileWritten(projection, "pg_advisory_xact_lock"),
			Reading{Query: upsert, Each: func(rows *sql.Rows) error { return rows.Scan(&taken.term) }}))
	})
	if err != nil {
		return lease{}, false, fmt.Errorf("take lease of %s: %w", projection, unavailable(err))
	}
	return taken, taken.term > 0, nil
}

// whileWritten are the lock that writing under a lease shares, and that taking one over has alone.
func (l *Log) whileWritten(projection, lock string) []Reading {
	if l.db.Engine == database.SQLite {
		return nil // the one writer is the lock
	}
	hash := fnv.New32a()
	hash.Write([]byte(projection))
	return []Reading{{Each: ignore, Query: l.db.QueryGen().FormatQuery(
		`SELECT `+lock+`('leases'::regclass::oid::integer, ?)`, int32(hash.Sum32()))}}
}

// renew makes the lease last from now. The error is errFenced if another process has it.
func (l *lease) renew(ctx context.Context) error {
	until := time.Now().Add(l.log.options.Lease)
	_, later := l.log.moments()
	err := l.update(ctx, later, l.log.options.Lease.Seconds())
	if err == nil {
		l.until = until
	}
	return err
}

// release lets another process have it at once.
func (l *lease) release(ctx context.Context) error {
	now, _ := l.log.moments()
	return l.update(ctx, now)
}

func (l *lease) update(ctx context.Context, expires string, args ...any) error {
	err := l.log.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.ExecContext(ctx, `
			UPDATE leases
			SET expires_at = `+expires+`
			WHERE projection = ? AND term = ?`, append(args, l.projection, l.term)...)
		if err != nil {
			return err
		}
		if updated, err := result.RowsAffected(); err != nil || updated == 0 {
			return errors.Join(errFenced, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep lease of %s: %w", l.projection, unavailable(err))
	}
	return nil
}

// fence are what a transaction reads first that writes under the lease; held is told whether it stands.
// A process that stops in the middle of such a transaction is thrown out of it when its lease has ended,
// or whoever takes over would wait for it. Nor need such a transaction wait for the disk: should the server
// fall before it is there, then what it wrote and the checkpoint are lost together, and the page comes again.
// Whoever commits later and does wait, as every append does and every signature, waits for it, too.
func (l *lease) fence(held *bool) []Reading {
	var first []Reading
	log := l.log
	if log.db.Engine == database.Postgres {
		first = append(first, Reading{Each: ignore, Query: fmt.Sprintf(
			`SELECT set_config('idle_in_transaction_session_timeout', '%d', true), set_config('synchronous_commit', 'off', true)`,
			max(1, log.options.Lease.Milliseconds()))})
	}
	first = append(first, log.whileWritten(l.projection, "pg_advisory_xact_lock_shared")...)
	return append(first, Reading{
		Each: func(*sql.Rows) error { *held = true; return nil },
		Query: log.db.QueryGen().FormatQuery(
			`SELECT term FROM leases WHERE projection = ? AND term = ?`, l.projection, l.term),
	})
}
