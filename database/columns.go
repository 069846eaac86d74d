package database

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/migrations"
)

var (
	columnsMade = regexp.MustCompile(`(?ms)^CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(\n(.*?)^\)`)
	columnMade  = regexp.MustCompile(`(?m)^ {4}([a-z_]+) `)
	columnAdded = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) ADD COLUMN (\w+) `)
	columnGone  = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) DROP COLUMN (\w+);`)
)

// MissingColumns names the columns that statements create and do not drop, and that the database lacks, such as
// events.hash. It names only the table if all of its columns are missing.
func MissingColumns(ctx context.Context, db *DB, statements string) ([]string, error) {
	there, err := columns(ctx, db)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, dropped := range columnGone.FindAllStringSubmatch(statements, -1) {
		gone[dropped[1]+"."+dropped[2]] = true
	}
	var lacking []string
	miss := func(table, column string) {
		if gone[table+"."+column] {
			return
		}
		if len(there[table]) == 0 {
			column = ""
		}
		name := strings.TrimSuffix(table+"."+column, ".")
		if !slices.Contains(there[table], column) && !slices.Contains(lacking, name) {
			lacking = append(lacking, name)
		}
	}
	for _, table := range columnsMade.FindAllStringSubmatch(statements, -1) {
		for _, column := range columnMade.FindAllStringSubmatch(table[2], -1) {
			miss(table[1], column[1])
		}
	}
	for _, added := range columnAdded.FindAllStringSubmatch(statements, -1) {
		miss(added[1], added[2])
	}
	return lacking, nil
}

// columns are the columns of the database, by table.
func columns(ctx context.Context, db *DB) (map[string][]string, error) {
	query := `
		SELECT m.name, c.name AS column_name
		FROM sqlite_schema AS m
		JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table'`
	if db.Engine == Postgres {
		query = `
			SELECT c.relname AS name, a.attname AS column_name
			FROM pg_class AS c
			JOIN pg_attribute AS a ON a.attrelid = c.oid
			WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
			  AND c.relnamespace <> 'pg_catalog'::regnamespace AND pg_table_is_visible(c.oid)`
	}
	var rows []struct{ Name, ColumnName string }
	if err := db.NewRaw(query).Scan(ctx, &rows); err != nil {
		return nil, Classify(ctx, fmt.Errorf("look at the columns: %w", err))
	}
	there := map[string][]string{}
	for _, row := range rows {
		there[row.Name] = append(there[row.Name], row.ColumnName)
	}
	return there, nil
}

// CheckComplete returns an error if a column of the migrations is missing. The error names the columns and the fix.
func CheckComplete(ctx context.Context, db *DB) error {
	have, want, err := Schema(ctx, db)
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf("the database has schema %d, and this annals needs %d: run annals migrate", have, want)
	}
	made, err := migrated(db.Engine)
	if err != nil {
		return err
	}
	return CheckColumns(ctx, db, made, "put a backup back, as described in docs/backup.md#restore")
}

// CheckColumns returns an error if a column that statements create is missing. The error names the columns and the
// fix.
func CheckColumns(ctx context.Context, db *DB, statements, help string) error {
	lacking, err := MissingColumns(ctx, db, statements)
	if err == nil && len(lacking) > 0 {
		err = fmt.Errorf("the database lacks %s: %s", strings.Join(lacking, ", "), help)
	}
	return err
}

// migrated is the text of all migrations.
func migrated(engine Engine) (string, error) {
	names, err := fs.Glob(migrations.Files, engine.String()+"/*.up.sql")
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, name := range names {
		text, err := migrations.Files.ReadFile(name)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}
