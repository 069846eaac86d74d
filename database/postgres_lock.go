package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/lib/pq"
	"github.com/uptrace/bun"
)

// lockCheckLasts limits the check of the locks, which needs several sessions of a pooler at once.
const lockCheckLasts = 15 * time.Second

// fewestSessions is how many sessions one server may hold at once and need one more, of a pooler in transaction mode:
// one for each processor to verify, and for two exports and a backup.
func fewestSessions() int { return runtime.GOMAXPROCS(0) + 4 }

// sessions is what the check of the locks finds.
type sessions struct {
	opened int  // how many could be used at once
	kept   bool // whether one transaction is refused the lock of another
	shared bool // whether a pooler gives each transaction another session
}

// checkLocks refuses a server without the advisory locks that appends and migrations need: of two transactions that
// want a lock, the first keeps it and the second is refused. Some databases only have functions of that name. It also
// refuses a pooler with too few sessions.
func checkLocks(ctx context.Context, db *DB, s server) error {
	ctx, cancel := context.WithTimeout(ctx, lockCheckLasts)
	defer cancel()
	found, err := openSessions(ctx, db)
	refusal, refused := errors.AsType[*pq.Error](err)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded), refused && refusal.Message == "query_wait_timeout":
		return fmt.Errorf(
			"PostgreSQL at %s has %d sessions for this server, and no further one: give the pooler at least %d for each server "+
				"in transaction mode, or all of pool_max_conns in session mode: %w",
			s.address, found.opened, fewestSessions(), ErrUnavailable,
		)
	case found.opened == 1 && errors.Is(err, driver.ErrBadConn):
		return fmt.Errorf(
			"PostgreSQL at %s ends the connection at BEGIN: if a pooler is in statement mode, use transaction mode: %w",
			s.address, ErrUnavailable,
		)
	case err != nil:
		return s.unreached(Classify(ctx, fmt.Errorf("test its locks: %w", err)))
	case !found.kept:
		return fmt.Errorf("PostgreSQL at %s does not keep the advisory lock of one transaction from another: "+
			"use a server of PostgreSQL itself", s.address)
	}
	db.sharesSessions = found.shared
	return nil
}

// openSessions takes a lock in one transaction and requests it in another session. If a pooler shares its sessions, it
// opens as many as a server needs.
func openSessions(ctx context.Context, db *DB) (found sessions, err error) {
	found.opened = 1 // by the check before
	take := fmt.Sprintf("SELECT pg_backend_pid(), pg_try_advisory_xact_lock(%d)", rand.Int64())
	conn, err := db.writers.Conn(ctx)
	if err != nil {
		return found, err
	}
	defer conn.Close() //nolint:errcheck // it goes back to its pool
	var first int
	ask := func() (taken bool, err error) { // in a transaction that ends at once
		var session int
		err = conn.QueryRowContext(ctx, take).Scan(&session, &taken)
		if first == 0 {
			first = session
		}
		found.shared = found.shared || session != first
		return taken, err
	}
	var open []bun.Tx
	defer func() {
		for _, tx := range open {
			_ = tx.Rollback() // it only read
		}
	}()
	begin := func() (taken bool, err error) {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // as a standby requires
		if err != nil {
			return false, err
		}
		open = append(open, tx)
		found.opened = len(open)
		var session int
		err = tx.QueryRowContext(ctx, take).Scan(&session, &taken)
		found.shared = found.shared || session == first
		return taken, err
	}

	for range 2 {
		if _, err := ask(); err != nil {
			return found, err
		}
	}
	taken, err := begin()
	if err != nil {
		return found, err
	}
	takenTwice, err := ask()
	found.kept = taken && !takenTwice
	for err == nil && found.shared && len(open) < min(fewestSessions(), db.Stats().MaxOpenConnections) {
		_, err = begin()
	}
	return found, err
}
