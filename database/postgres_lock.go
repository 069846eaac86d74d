package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// lockCheckLasts limits the check of the locks, which needs two sessions of a pooler at once.
const lockCheckLasts = 15 * time.Second

// checkLocks refuses a server without the advisory locks that rebuilds and migrations need: of two sessions that want
// a lock, the first keeps it and the second is refused. Some databases only have functions of that name. A pooler in
// transaction mode gives every transaction another session.
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

// keepsLocks takes a lock in one session, requests it in another, and releases it.
func keepsLocks(ctx context.Context, db *DB) (kept bool, err error) {
	key := rand.Int64() // unique, since the lock may stay behind where locks do not work
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
	// The transaction prevents a pooler from lending this session to the holder; a pooler in statement mode refuses
	// it. It uses the reading pool, since lib/pq must begin either all transactions of a connection or none.
	other, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // as a standby requires
	if err != nil {
		return false, err
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
