package database

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TooLongLog is beyond how many pages a copier that is told waits for those who read.
const TooLongLog = tooLong * toldLong

const toldLong = 256

// Copies copies the write-ahead log when it is told to, and never by itself.
type Copies struct{ copier *checkpointer }

// CopiesWhenTold ends that a database copies its log by itself, takes much less for long, and waits so long for those who read.
func (db *DB) CopiesWhenTold(t *testing.T, patience time.Duration) Copies {
	t.Helper()
	db.checkpointer.stop()
	db.checkpointer.working.Wait()
	var now int64
	err := db.checkpointer.pool.QueryRowContext(t.Context(), fmt.Sprintf("PRAGMA busy_timeout(%d)", patience.Milliseconds())).Scan(&now)
	if err != nil || now != patience.Milliseconds() {
		t.Fatalf("it waits for %d ms, %v", now, err)
	}
	db.checkpointer.long = toldLong // so that a test writes little
	return Copies{db.checkpointer}
}

// Copy takes one of the copier's steps.
func (c Copies) Copy(ctx context.Context) (held bool, err error) { return c.copier.copy(ctx) }

// Waits tells whether nobody can write meanwhile.
func (c Copies) Waits() bool { return len(c.copier.db.writeLock) == 1 }
