package database

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// lockCheckLasts is how long the check of the locks may take, for which a pooler must give two sessions at once.
const lockCheckLasts = 15 * time.Second

// checkLocks refuses a server that does not do what rebuilds and migrations rely on: of two sessions that want an
// advisory lock one is refused, and the other one keeps it. Some databases only know the function's name, and a
// pooler in transaction mode gives every transaction another session.
func checkLocks(ctx context.Context, db *DB, s server) error {
	ctx, cancel := context.WithTimeout(ctx, lockCheckLasts)
	defer cancel()
	kept, err := keepsLocks(ctx, db)
	if err != nil {
		return s.unreached(Classify(ctx, fmt.Errorf("test its locks: %w", err)))
	}
	if !kept {
		return fmt.Errorf(
			"PostgreSQL at %s does not keep the advisory lock of one session from another: connect to the server itself, or "+
				"through a pooler in session mode",
			s.address,
		)
	}
	return nil
}

// keepsLocks takes a lock in one session, asks for it in another, and gives it back.
func keepsLocks(ctx context.Context, db *DB) (kept bool, err error) {
	key := rand.Int64() // of this check alone: where locks do not work, this one may be left behind
	take := fmt.Sprintf("SELECT pg_try_advisory_lock(%d)", key)
	giveBack := fmt.Sprintf("SELECT pg_advisory_unlock(%d)", key)
	holder, err := db.writers.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer holder.Close() //nolint:errcheck // it goes back to its pool
	var taken, takenTwice bool
	if err := holder.QueryRowContext(ctx, take).Scan(&taken); err != nil {
		return false, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close() //nolint:errcheck // it goes back to its pool
	// In a transaction, so that a pooler cannot lend this session to the holder meanwhile; one in statement
	// mode refuses it. A connection of the pool that reads, since lib/pq must begin every transaction of a
	// connection, or none.
	other, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return false, ctx.Err()
	}
	defer func() { err = errors.Join(err, other.Rollback()) }()
	if err := other.QueryRowContext(ctx, take).Scan(&takenTwice); err != nil {
		return false, err
	}
	if takenTwice {
		_, err := other.ExecContext(ctx, giveBack+"; "+giveBack)
		return false, err
	}
	err = holder.QueryRowContext(ctx, giveBack).Scan(&kept)
	return taken && kept, err
}
