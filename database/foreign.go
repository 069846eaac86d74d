package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// writersRelations are the tables of projections that do not belong to the owner of the log, with their owners.
const writersRelations = `
	WITH log AS (
		SELECT relowner AS owner
		FROM pg_class
		WHERE oid = to_regclass('events')
	),
	writers AS (
		SELECT DISTINCT c.relowner AS oid
		FROM pg_class AS c, log
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relowner <> log.owner
		  AND c.relname ~ '^(knowledge|meaning|past|vectors)(_|$)'
	)`

// foreignCode lists code that a serving role may have added to its tables, and which would run with the rights of
// other roles that use them. Annals creates no such code.
const foreignCode = writersRelations + `
	SELECT format('trigger %I on %s', t.tgname, t.tgrelid::regclass) AS name
	FROM pg_trigger AS t
	JOIN pg_class AS c ON c.oid = t.tgrelid
	WHERE NOT t.tgisinternal AND c.relowner IN (SELECT oid FROM writers)
	UNION ALL
	SELECT format('rule %I on %s', r.rulename, r.ev_class::regclass)
	FROM pg_rewrite AS r
	JOIN pg_class AS c ON c.oid = r.ev_class
	WHERE r.rulename <> '_RETURN' AND c.relowner IN (SELECT oid FROM writers)
	UNION ALL
	SELECT format('policy %I on %s', p.polname, p.polrelid::regclass)
	FROM pg_policy AS p
	JOIN pg_class AS c ON c.oid = p.polrelid
	WHERE p.polname <> 'one_tenant' AND c.relowner IN (SELECT oid FROM writers)
	UNION ALL
	SELECT format('function %s', p.oid::regprocedure)
	FROM pg_proc AS p
	WHERE p.proowner IN (SELECT oid FROM writers) AND NOT pg_has_role(p.proowner, (SELECT owner FROM log), 'MEMBER')
	UNION ALL
	SELECT format('operator %s', o.oid::regoperator)
	FROM pg_operator AS o
	WHERE o.oprowner IN (SELECT oid FROM writers) AND NOT pg_has_role(o.oprowner, (SELECT owner FROM log), 'MEMBER')
	ORDER BY name`

// ForeignCode lists the triggers, rules, policies and functions that a serving role has added to its own tables; none
// on SQLite.
func ForeignCode(ctx context.Context, db *DB) (found []string, err error) {
	if db.Engine == SQLite {
		return nil, nil
	}
	if err := db.NewRaw(foreignCode).Scan(ctx, &found); err != nil {
		return nil, Classify(ctx, fmt.Errorf("look for triggers: %w", err))
	}
	return found, nil
}

// LockWriterTables allows another role, such as the owner of the log, to use the tables of a serving role. It refuses
// while those tables have [ForeignCode], which would run with the other role's rights. Until release is called, no
// such code can be added, and no table of a projection can be dropped. On a standby, which allows no such change, it
// does nothing.
func LockWriterTables(ctx context.Context, db *DB) (release func(), err error) {
	if db.Engine == SQLite {
		return func() {}, nil
	}
	pool, err := db.OpenReadPool(ctx, 1)
	if err != nil {
		return nil, err
	}
	release = func() { _ = pool.Close() }
	tx, err := pool.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{ReadOnly: true}) // as a standby requires
	if err != nil {
		release()
		return nil, Classify(ctx, fmt.Errorf("lock the tables: %w", err))
	}
	release = func() { _, _ = tx.Rollback(), pool.Close() }
	if err = lockWriterTables(ctx, tx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func lockWriterTables(ctx context.Context, tx bun.Tx) error {
	var others []string
	err := tx.NewRaw(writersRelations+`
		SELECT c.oid::regclass::text
		FROM pg_class AS c
		WHERE NOT pg_is_in_recovery() AND c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
		  AND c.relowner IN (SELECT oid FROM writers WHERE oid <> current_user::regrole)
		ORDER BY c.oid`).Scan(ctx, &others)
	if err != nil || len(others) == 0 {
		return Classify(ctx, err)
	}
	// This lock mode allows changes of rows, and blocks new triggers, rules and policies.
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err = tx.ExecContext(
		ctx,
		"SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE "+strings.Join(others, ", ")+" IN ROW EXCLUSIVE MODE",
	)
	if err != nil {
		return Classify(ctx, fmt.Errorf("lock the tables: %w", err))
	}
	var found []string
	if err := tx.NewRaw(foreignCode).Scan(ctx, &found); err != nil {
		return Classify(ctx, fmt.Errorf("look for triggers: %w", err))
	}
	if len(found) > 0 {
		return fmt.Errorf(
			"the role that serves has code of its own that would run with the rights of this role, and Annals made none of it: "+
				"look at it and drop it, then try again: %s",
			strings.Join(found, ", "),
		)
	}
	return nil
}
