package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/uptrace/bun"
)

// Standby tells whether the server was a standby of PostgreSQL when the database was opened. It then accepts no writes,
// and needs no migration. See [DB.Replay] for what it is now.
func (db *DB) Standby() bool { return db.standby }

// Role names what [DB.Standby] tells: primary or standby.
func (db *DB) Role() string {
	if db.standby {
		return "standby"
	}
	return "primary"
}

// Replay is how far a standby follows its primary.
type Replay struct {
	Standby bool // false for a primary, also for one that was a standby
	// Lag is the age of the last transaction that was replayed. It is 0 if the standby is connected and has replayed
	// everything that it received.
	Lag time.Duration
	// Why is what keeps the standby from following; empty if nothing does.
	Why string
}

// Replay reads how far the server follows its primary now. Without a connection to the primary, such as with files that
// are shipped, the lag grows until the next transaction arrives. SQLite has no standby.
func (db *DB) Replay(ctx context.Context) (r Replay, err error) {
	if db.Engine != Postgres {
		return r, nil
	}
	var seconds float64
	var connected, paused bool
	err = db.QueryRowContext(ctx, `
		SELECT
			pg_is_in_recovery(),
			CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END,
			EXISTS (SELECT FROM pg_stat_wal_receiver),
			CASE
				WHEN NOT pg_is_in_recovery()
					OR pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver)
				THEN 0
				ELSE extract(epoch FROM clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))
			END`).Scan(&r.Standby, &paused, &connected, &seconds)
	if err != nil {
		return r, Classify(ctx, fmt.Errorf("ask how far the standby is: %w", err))
	}
	r.Lag = time.Duration(max(0, seconds) * float64(time.Second))
	switch {
	case paused:
		r.Why = "its replay is paused: SELECT pg_wal_replay_resume() continues it"
	case r.Standby && !connected:
		r.Why = "it has no connection to its primary"
	}
	return r, nil
}

// ID identifies the database among all servers: a standby and its primary have the same. It is empty on SQLite, and if
// the server does not tell.
func (db *DB) ID() string { return db.id }

// TransactHere is [DB.Transact] for what a primary may have to write, and a standby only reads. There, the error of a
// statement that writes matches [ErrReadOnly].
func (db *DB) TransactHere(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	if !db.standby {
		return db.Transact(ctx, fn)
	}
	err := db.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: true}, fn)
	return Classify(ctx, err)
}

// isRecoveryConflict tells whether a standby stopped a statement whose rows its primary has removed. The same statement
// finds the new rows.
func isRecoveryConflict(err error) bool {
	refusal, ok := errors.AsType[*pq.Error](err)
	return ok && refusal.Code == pqerror.TRSerializationFailure
}
