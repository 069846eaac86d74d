package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// copied is what INSERT … SELECT takes for the rows of a version, into empty tables with its columns, keys and indexes:
// seconds, and on SQLite those of the processor, which are all in this process there.
type copied struct {
	Seconds   float64            `json:"insert_select_s,omitempty"`
	Processor float64            `json:"insert_select_processor_s,omitempty"`
	Tables    map[string]float64 `json:"insert_select_tables_s,omitempty"`
}

// reference copies the rows of the active version, and tells how many each table has. What it does is as durable as a
// rebuild is in the end: a transaction a table, each of which waits for the disk. SQLite's journal is copied into the file
// beside it, as beside a rebuild.
func reference(ctx context.Context, db *database.DB) (took copied, rows map[string]int64, err error) {
	var version int
	took.Tables = map[string]float64{}
	err = db.QueryRowContext(ctx, "SELECT version FROM projections WHERE name = 'knowledge' AND state = 'active'").Scan(&version)
	if err != nil {
		return took, nil, err
	}
	rows = map[string]int64{}
	for _, table := range []string{"", "_scopes", "_terms", "_votes", "_reports"} {
		from := fmt.Sprintf("knowledge_%d%s", version, table)
		to := "reference" + table
		if err := alike(ctx, db, from, to); err != nil {
			return took, nil, fmt.Errorf("define %s: %w", to, err)
		}
		began, used := time.Now(), processor()
		err := db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			columns, err := columns(ctx, tx, from)
			if err != nil {
				return err
			}
			// Named columns: for "*", SQLite copies whole records between tables that are alike, and inserts nothing.
			result, err := tx.ExecContext(ctx, "INSERT INTO "+to+" ("+columns+") SELECT "+columns+" FROM "+from)
			if err != nil {
				return err
			}
			if db.Engine == database.Postgres {
				if _, err := tx.ExecContext(ctx, "ANALYZE "+to); err != nil {
					return err
				}
			}
			rows[strings.TrimPrefix(table, "_")], err = result.RowsAffected()
			return err
		})
		lasted := time.Since(began).Seconds()
		took.Seconds += lasted
		took.Tables[strings.TrimPrefix(from, "knowledge_"+strconv.Itoa(version))] = lasted
		if db.Engine == database.SQLite {
			took.Processor += processor() - used
		}
		if err != nil {
			return took, nil, fmt.Errorf("fill %s: %w", to, err)
		}
		err = db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, "DROP TABLE "+to)
			return err
		})
		if err != nil {
			return took, nil, err
		}
	}
	rows["knowledge"] = rows[""]
	delete(rows, "")
	return took, rows, nil
}

func columns(ctx context.Context, tx bun.Tx, table string) (list string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	names, err := rows.Columns()
	return strings.Join(names, ", "), errors.Join(err, rows.Err())
}

// alike defines a table like another one, with its indexes.
func alike(ctx context.Context, db *database.DB, from, to string) error {
	return db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if db.Engine == database.Postgres {
			with := ""
			if from[len(from)-1] <= '9' {
				with = " WITH (fillfactor = 90)" // which LIKE leaves out
			}
			_, err := tx.ExecContext(ctx, "CREATE TABLE "+to+" (LIKE "+from+" INCLUDING ALL)"+with)
			return err
		}
		definitions, err := definitions(ctx, tx, from)
		if err != nil {
			return err
		}
		for _, definition := range definitions {
			if _, err := tx.ExecContext(ctx, strings.ReplaceAll(definition, from, to)); err != nil {
				return err
			}
		}
		return nil
	})
}

// definitions are SQLite's, the table's before those of its indexes.
func definitions(ctx context.Context, tx bun.Tx, table string) (list []string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var definition sql.NullString
		if err := rows.Scan(&definition); err != nil {
			return nil, err
		}
		list = append(list, definition.String)
	}
	return list, rows.Err()
}
