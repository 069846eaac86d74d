package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
)

const purgedTables = `
	SELECT c.relname
	FROM pg_class AS c
	WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
	  AND (c.relname IN ('event_texts', 'requests', 'files', 'directories', 'receipt_pages')
	    OR c.relname ~ '^(knowledge|meaning|vectors|past)_[0-9]+(_[a-z]+)?$')
	ORDER BY c.relname`

func purgeTables(ctx context.Context, db *DB) (notes []string, complete bool, err error) {
	var tables []string
	if err := db.writers.NewRaw(purgedTables).Scan(ctx, &tables); err != nil {
		return nil, false, Classify(ctx, fmt.Errorf("list the tables to rewrite: %w", err))
	}
	if late, err := outlast(ctx, db); err != nil || late != "" {
		return []string{late}, false, err
	}
	complete = true
	var others []string
	for _, table := range tables {
		took, own, failed := rewriteTable(ctx, db, "VACUUM (FULL, ANALYZE) ", pq.QuoteIdentifier(table))
		switch {
		case ctx.Err() != nil:
			return notes, false, ctx.Err()
		case failed != nil:
			complete = false
			notes = append(notes, fmt.Sprintf("%s was not rewritten: %s", table, failed))
		case !own:
			others = append(others, table)
		default:
			notes = append(notes, fmt.Sprintf("%s was rewritten in %s", table, took.Round(time.Millisecond)))
		}
	}
	// The planner's statistics are in a system table.
	switch _, own, failed := rewriteTable(ctx, db, "VACUUM FULL ", "pg_catalog.pg_statistic"); {
	case failed != nil:
		notes = append(
			notes, "pg_statistic was not rewritten: "+failed.Error()+"; its owner may run VACUUM FULL pg_statistic",
		)
	case !own:
		others = append(others, "pg_statistic")
	}
	if len(others) > 0 {
		complete = false
		var user string
		if err := db.QueryRowContext(ctx, "SELECT current_user").Scan(&user); err != nil {
			return notes, false, Classify(ctx, err)
		}
		notes = append(
			notes,
			fmt.Sprintf("not rewritten, since %s owns neither them nor the database: %s", user, strings.Join(others, ", ")),
		)
	}
	if _, failed := rewrite(ctx, db, "CHECKPOINT"); failed != nil {
		notes = append(notes, "the former files go with PostgreSQL's next checkpoint")
	}
	return notes, complete, nil
}

// OwnersPurge is the command by which the owner rewrites tables or statistics that this role may not rewrite. It is
// empty if the role may rewrite both, and on SQLite.
func OwnersPurge(ctx context.Context, db *DB) (command string, err error) {
	if db.Engine == SQLite {
		return "", nil
	}
	err = ForEach(ctx, db, func(rows *sql.Rows) error {
		var owner, name string
		err := rows.Scan(&owner, &name)
		command = fmt.Sprintf(
			"annals erase --purge --database 'postgres://%s:PASSWORD@HOST/%s'", url.PathEscape(owner), url.PathEscape(name),
		)
		return err
	}, `
		SELECT pg_get_userbyid(CASE WHEN pg_has_role(relowner, 'USAGE') THEN datdba ELSE relowner END), datname
		FROM pg_class, pg_database
		WHERE pg_class.oid = to_regclass('event_texts') AND datname = current_database()
		  AND NOT (pg_has_role(relowner, 'USAGE') AND pg_has_role(datdba, 'USAGE'))`)
	if err != nil {
		return "", fmt.Errorf("find the owners of the tables and the database: %w", err)
	}
	return command, nil
}

// outlast waits for the transactions that may still see deleted rows, since a rewrite would copy those rows. It
// returns a message if that takes too long.
func outlast(ctx context.Context, db *DB) (late string, err error) {
	var now int64
	if err := db.writers.QueryRowContext(ctx, "SELECT txid_current()").Scan(&now); err != nil {
		return "", Classify(ctx, err)
	}
	began := time.Now()
	backoff := Backoff{Shortest: 20 * time.Millisecond, Longest: 20 * time.Millisecond}
	err = backoff.Retry(ctx, func() (done bool, err error) {
		var others int
		err = db.writers.QueryRowContext(ctx, `
			SELECT
				count(*) FILTER (WHERE pid <> pg_backend_pid() AND datname = current_database()
					AND age(backend_xmin) > age((?0::bigint % 4294967296)::text::xid))
				-- One that is open in another database makes new ones here look as far back as itself.
				+ (txid_snapshot_xmin(txid_current_snapshot()) <= ?0::bigint)::integer
			FROM pg_stat_activity`, now).Scan(&others)
		if others > 0 && time.Since(began) > time.Minute {
			late = fmt.Sprintf(
				"nothing was rewritten: %d transactions have been open for more than a minute, and may still see what was deleted",
				others,
			)
		}
		return err != nil || others == 0 || late != "", Classify(ctx, err)
	})
	return late, err
}

// rewriteTable rewrites a table's file. PostgreSQL skips a table that the role does not own with only a warning, so a
// changed file name is the proof of a rewrite.
func rewriteTable(ctx context.Context, db *DB, how, table string) (took time.Duration, own bool, err error) {
	const fileOf = "SELECT pg_relation_filenode(?::regclass)"
	var before, after int64
	if err := db.writers.QueryRowContext(ctx, fileOf, table).Scan(&before); err != nil {
		return 0, false, err
	}
	if took, err = rewrite(ctx, db, how+table); err != nil {
		return took, true, err
	}
	err = db.writers.QueryRowContext(ctx, fileOf, table).Scan(&after)
	return took, before != after, err
}

// errLocked says that others kept a table locked.
var errLocked = errors.New("others keep it locked")

// rewrite runs a statement, with retries if the table is locked.
func rewrite(ctx context.Context, db *DB, statement string) (took time.Duration, err error) {
	for range 3 {
		began := time.Now()
		end := limitWait(ctx, db, statement)
		_, err = db.writers.ExecContext(ctx, statement)
		if waited := end(); err == nil || !waited {
			return time.Since(began), err
		}
	}
	return 0, errLocked
}

// limitWait cancels a statement of this role that waits for a lock for more than 3 seconds, until end is called; end
// tells whether it did. VACUUM cannot run in a transaction with a lock_timeout, and a pooler may give it another
// session than SET.
func limitWait(ctx context.Context, db *DB, statement string) (end func() (waited bool)) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	var canceled int64
	watch.Go(func() {
		_ = Backoff{Shortest: time.Second, Longest: time.Second}.Retry(ctx, func() (done bool, err error) {
			result, err := db.ExecContext(ctx, `
				SELECT pg_cancel_backend(l.pid)
				FROM pg_locks AS l
				JOIN pg_stat_activity AS a ON a.pid = l.pid
				WHERE l.waitstart < clock_timestamp() - interval '3 seconds'
				  AND a.datname = current_database() AND a.usename = current_user AND a.query = ?`, statement)
			if err == nil {
				canceled, err = result.RowsAffected()
			}
			return canceled > 0, err
		})
	})
	return func() bool {
		cancel()
		watch.Wait()
		return canceled > 0
	}
}
