package database

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// Sweep rewrites the files so that nothing of what was deleted is left in them, and tells what it did, or
// could not do. A database keeps the bytes of deleted rows until their place is needed.
//
// SQLite: whoever writes waits until the file is rewritten, at about the speed of the disk. PostgreSQL: one
// table after the other, each of which nobody can read meanwhile; a table that is not to be had within
// seconds is tried again, and then left. The write-ahead log of PostgreSQL and backups are beyond its reach.
func (db *DB) Sweep(ctx context.Context) (notes []string, complete bool, err error) {
	if db.Engine == SQLite {
		return db.sweepFile(ctx)
	}
	return db.sweepTables(ctx)
}

func (db *DB) sweepFile(ctx context.Context) (notes []string, complete bool, err error) {
	done, err := db.turn.take(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()
	began := time.Now()
	if _, err := db.writers.ExecContext(ctx, "VACUUM"); err != nil {
		return nil, false, Classify(ctx, fmt.Errorf("rewrite the file: %w", err))
	}
	// The log of what was written before is emptied as soon as nobody reads in it.
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var busy, pages, moved int
		if err := db.writers.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
			return nil, false, Classify(ctx, fmt.Errorf("empty the write-ahead log: %w", err))
		}
		if busy == 0 {
			return []string{fmt.Sprintf("rewrote the file in %s, and emptied its write-ahead log", time.Since(began).Round(time.Millisecond))}, true, nil
		}
		if time.Since(began) > time.Minute {
			return []string{"rewrote the file; its write-ahead log is not empty, since somebody has been reading in it for a minute"}, false, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

const sweptTables = `
	SELECT c.relname
	FROM pg_class AS c
	WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
	  AND (c.relname IN ('event_texts', 'requests', 'files', 'directories') OR c.relname ~ '^(knowledge|meaning|vectors|past)_[0-9]+(_[a-z]+)?$')
	ORDER BY c.relname`

func (db *DB) sweepTables(ctx context.Context) (notes []string, complete bool, err error) {
	conn, err := db.writers.Conn(ctx)
	if err != nil {
		return nil, false, Classify(ctx, err)
	}
	defer conn.Close()
	var tables []string
	if err := db.NewRaw(sweptTables).Scan(ctx, &tables); err != nil {
		return nil, false, Classify(ctx, fmt.Errorf("list the tables to rewrite: %w", err))
	}
	if _, err := conn.ExecContext(ctx, "SET lock_timeout = '3s'"); err != nil {
		return nil, false, Classify(ctx, err)
	}
	if late, err := outlast(ctx, conn.Conn); err != nil || late != "" {
		return []string{late}, false, err
	}
	complete = true
	defer func() {
		if _, resetErr := conn.ExecContext(context.WithoutCancel(ctx), "RESET lock_timeout"); err == nil && resetErr != nil {
			err = Classify(ctx, resetErr)
		}
	}()
	for _, table := range tables {
		took, failed := rewrite(ctx, conn.Conn, "VACUUM (FULL, ANALYZE) "+pq.QuoteIdentifier(table))
		if ctx.Err() != nil {
			return notes, false, ctx.Err()
		}
		if failed != nil {
			complete = false
			notes = append(notes, fmt.Sprintf("%s was not rewritten: %s", table, failed))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s was rewritten in %s", table, took.Round(time.Millisecond)))
	}
	// What the planner remembers of columns lies in a table of the system's.
	if _, failed := rewrite(ctx, conn.Conn, "VACUUM FULL pg_catalog.pg_statistic"); failed != nil {
		notes = append(notes, "pg_statistic was not rewritten: "+failed.Error()+"; its owner may run VACUUM FULL pg_statistic")
	}
	if _, failed := rewrite(ctx, conn.Conn, "CHECKPOINT"); failed != nil {
		notes = append(notes, "the former files go with PostgreSQL's next checkpoint")
	}
	return notes, complete, nil
}

// outlast waits until every transaction has ended that may still see what was deleted: as long as one may, a
// rewriting takes it along. It says so if that takes too long.
func outlast(ctx context.Context, conn *sql.Conn) (late string, err error) {
	var now int64
	if err := conn.QueryRowContext(ctx, "SELECT txid_current()").Scan(&now); err != nil {
		return "", Classify(ctx, err)
	}
	for began := time.Now(); ; {
		var others int
		err := conn.QueryRowContext(ctx, `
			SELECT
				count(*) FILTER (WHERE pid <> pg_backend_pid() AND datname = current_database() AND age(backend_xmin) > age(($1::bigint % 4294967296)::text::xid))
				-- One that is open in another database makes new ones here look as far back as itself.
				+ (txid_snapshot_xmin(txid_current_snapshot()) <= $1::bigint)::integer
			FROM pg_stat_activity`, now).Scan(&others)
		switch {
		case err != nil:
			return "", Classify(ctx, err)
		case others == 0:
			return "", nil
		case time.Since(began) > time.Minute:
			return fmt.Sprintf("nothing was rewritten: %d transactions have been open for more than a minute, and may still see what was deleted", others), nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// rewrite runs a statement, a few times if somebody else is at the table.
func rewrite(ctx context.Context, conn *sql.Conn, statement string) (took time.Duration, err error) {
	for range 3 {
		began := time.Now()
		if _, err = conn.ExecContext(ctx, statement); err == nil {
			return time.Since(began), nil
		}
		if refused, is := err.(*pq.Error); !is || refused.Code != "55P03" { //nolint:errorlint // the driver's own
			break
		}
	}
	return 0, err
}
