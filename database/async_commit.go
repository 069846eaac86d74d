package database

import (
	"context"
	"database/sql/driver"

	"github.com/uptrace/bun"
)

// TransactAsync is [DB.Transact] for what can be done again: its COMMIT does not wait until the disk has it. A
// machine that fails may forget the transaction, together with all lazy ones after it, as long as none of
// [DB.Transact] has followed.
func (db *DB) TransactAsync(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return db.transact(ctx, asyncCommit, fn)
}

// commitMode says whether a COMMIT waits for the disk.
type commitMode bool

const (
	syncCommit  commitMode = false
	asyncCommit commitMode = true
)

// allowAsync lets the next transaction on SQLite's one connection that writes be a lazy one, and hurry those after it be
// prompt again. A connection that will not hurry is not used any more.
func (db *DB) allowAsync(ctx context.Context) (hurry func(), err error) {
	if db.Engine != SQLite {
		return func() {}, nil
	}
	if _, err := db.writers.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	return func() {
		if _, err := db.writers.ExecContext(ctx, "PRAGMA synchronous = FULL"); err == nil {
			return
		}
		if writer, err := db.writers.Conn(ctx); err == nil {
			_ = writer.Raw(func(any) error { return driver.ErrBadConn }) // drops it, and says so
			_ = writer.Close()
		}
	}, nil
}
