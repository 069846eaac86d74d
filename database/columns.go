package database

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/migrations"
)

var (
	columnsMade = regexp.MustCompile(`(?ms)^CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(\n(.*?)^\)`)
	columnMade  = regexp.MustCompile(`^\s*([a-z_]+) +(double precision|[a-zA-Z0-9]+)`)
	columnAdded = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) ADD COLUMN (.*)`)
	columnGone  = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) DROP COLUMN (\w+);`)
	tableGone   = regexp.MustCompile(`(?m)^DROP TABLE (\w+);`)
	indexMade   = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (\w+)`)
	comment     = regexp.MustCompile(`--.*`)
)

// Layout is what tables look like.
type Layout struct {
	Columns []Column
	Indexes []string // their names
}

// Column is a column of a table.
type Column struct {
	Table    string
	Name     string `bun:"column_name"`
	Type     string // as PostgreSQL names it in pg_type, or in capitals on SQLite
	Required bool   // no row may lack it, and it has no default
}

// Of are the columns of a table.
func (l Layout) Of(table string) []Column {
	return slices.DeleteFunc(slices.Clone(l.Columns), func(c Column) bool { return c.Table != table })
}

// SameAs tells whether a table has the same columns in another layout.
func (l Layout) SameAs(other Layout, table string) bool {
	byName := func(a, b Column) int { return cmp.Compare(a.Name, b.Name) }
	return slices.Equal(slices.SortedFunc(slices.Values(l.Of(table)), byName),
		slices.SortedFunc(slices.Values(other.Of(table)), byName))
}

// typeNames are the names of types in pg_type.
var typeNames = map[string]string{
	"bigint": "int8", "integer": "int4", "double precision": "float8", "boolean": "bool",
}

// LayoutMade is the layout that statements make, without what they drop.
func LayoutMade(statements string) (made Layout) {
	gone := map[string]bool{}
	for _, dropped := range columnGone.FindAllStringSubmatch(statements, -1) {
		gone[dropped[1]+"."+dropped[2]] = true
	}
	for _, dropped := range tableGone.FindAllStringSubmatch(statements, -1) {
		gone[dropped[1]] = true
	}
	add := func(table, definition string) {
		column := columnMade.FindStringSubmatch(definition)
		if column != nil && !gone[table] && !gone[table+"."+column[1]] {
			named := cmp.Or(typeNames[column[2]], column[2])
			made.Columns = append(made.Columns, Column{table, column[1], named, strings.Contains(definition, "NOT NULL")})
		}
	}
	for _, table := range columnsMade.FindAllStringSubmatch(statements, -1) {
		for definition := range strings.SplitSeq(comment.ReplaceAllString(table[2], ""), ",") {
			add(table[1], definition)
		}
	}
	for _, added := range columnAdded.FindAllStringSubmatch(statements, -1) {
		add(added[1], added[2])
	}
	for _, index := range indexMade.FindAllStringSubmatch(statements, -1) {
		made.Indexes = append(made.Indexes, index[1])
	}
	return made
}

// ReadLayout reads the layout of the database.
func ReadLayout(ctx context.Context, db bun.IDB, engine Engine) (there Layout, err error) {
	columns, indexes := `
		SELECT
			m.name AS "table", c.name AS column_name, upper(c.type) AS type,
			c."notnull" AND c.dflt_value IS NULL AS required
		FROM sqlite_schema AS m
		JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table'`, "SELECT name FROM sqlite_schema WHERE type = 'index'"
	if engine == Postgres {
		columns, indexes = `
			SELECT
				c.relname AS "table", a.attname AS column_name, t.typname AS type,
				a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS required
			FROM pg_class AS c
			JOIN pg_attribute AS a ON a.attrelid = c.oid
			JOIN pg_type AS t ON t.oid = a.atttypid
			WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
			  AND c.relnamespace <> 'pg_catalog'::regnamespace AND pg_table_is_visible(c.oid)`,
			"SELECT relname FROM pg_class WHERE relkind = 'i' AND pg_table_is_visible(oid)"
	}
	if err = db.NewRaw(columns).Scan(ctx, &there.Columns); err == nil {
		err = db.NewRaw(indexes).Scan(ctx, &there.Indexes)
	}
	if err != nil {
		err = Classify(ctx, fmt.Errorf("look at the columns: %w", err))
	}
	return there, err
}

// CheckComplete returns an error if a column of the migrations is missing. The error names the columns and the fix.
func CheckComplete(ctx context.Context, db *DB) error {
	have, want, err := Schema(ctx, db)
	if err != nil {
		return err
	}
	if have > want {
		return outdatedError{int64(have), int64(want)}
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

// CheckColumns returns an error if a column is missing that statements create and do not drop. The error names the
// columns, such as events.hash, or only the table if all of its columns are missing, and the fix.
func CheckColumns(ctx context.Context, db *DB, statements, help string) error {
	there, err := ReadLayout(ctx, db, db.Engine)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, c := range there.Columns {
		found[c.Table], found[c.Table+"."+c.Name] = true, true
	}
	var lacking []string
	for _, c := range LayoutMade(statements).Columns {
		name := c.Table
		if found[c.Table] {
			name += "." + c.Name
		}
		if !found[name] && !slices.Contains(lacking, name) {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("the database lacks %s: %s", strings.Join(lacking, ", "), help)
	}
	return nil
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
