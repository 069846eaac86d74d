package database

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/uptrace/bun"
)

// Snapshot is a set of read-only transactions that see the same state of the database, for concurrent reads. One
// goroutine at a time may use each.
type Snapshot struct {
	Transactions []bun.Tx
	pool         *bun.DB // separate connections; nil if there is one transaction
}

// OpenSnapshot opens so many transactions. It opens only one if this process does not own the SQLite file, since
// another process may write between two. The caller ends them.
func (db *DB) OpenSnapshot(ctx context.Context, transactions int) (m Snapshot, err error) {
	defer func() {
		if err != nil {
			m.End()
			m, err = Snapshot{}, Classify(ctx, fmt.Errorf("read one moment: %w", err))
		}
	}()
	if db.Engine == SQLite && db.owner == nil {
		transactions = 1
	}
	pool := db.DB
	if transactions > 1 {
		if m.pool, err = db.OpenReadPool(ctx, transactions); err != nil {
			return m, err
		}
		pool = m.pool
		done, err := db.writeLock.take(ctx) // no transaction writes to the SQLite file meanwhile
		if err != nil {
			return m, err
		}
		defer done()
	}
	var snapshot string
	for len(m.Transactions) < transactions {
		tx, err := pool.BeginTx(ctx, db.snapshotOptions())
		if err != nil {
			return m, err
		}
		m.Transactions = append(m.Transactions, tx)
		switch {
		case transactions == 1:
		case db.Engine == SQLite: // a SQLite transaction sees the state at its first read
			err = tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int))
		case len(m.Transactions) > 1:
			_, err = tx.ExecContext(ctx, "SET TRANSACTION SNAPSHOT "+string(AppendString(nil, snapshot)))
		default:
			err = tx.QueryRowContext(ctx, "SELECT pg_export_snapshot()").Scan(&snapshot)
		}
		if err == nil {
			err = db.joinWork(ctx, tx)
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

func (db *DB) snapshotOptions() *sql.TxOptions {
	if db.Engine == SQLite {
		return nil // its reading connections cannot write anyway
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// End ends the transactions.
func (m Snapshot) End() {
	for _, tx := range m.Transactions {
		_ = tx.Rollback() // it only read
	}
	if m.pool != nil {
		_ = m.pool.Close()
	}
}
