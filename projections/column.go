package projections

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// column is one that a release has added to the knowledge table, and that versions built before do not
// have. It stands in the list of added columns until every version there is has it; then it goes into
// sql/knowledge and the row like any other.
type column struct {
	name string
	// postgres and sqlite are its type, with NOT NULL and a DEFAULT.
	postgres, sqlite string
	// value is what an item's row has there: a string or an int64.
	value func(k *domain.Knowledge) any
}

// addedColumns are those that versions built from now on have, beside those of sql/knowledge.
func addedColumns() []column { return nil }

// settingColumns names the added columns that a version has.
const settingColumns = "columns"

// noteColumns names columns among a version's settings.
func noteColumns(settings map[string]string, added []column) {
	if len(added) > 0 {
		settings[settingColumns] = strings.Join(namesOfColumns(added), ",")
	}
}

func namesOfColumns(added []column) []string {
	names := make([]string, len(added))
	for i, c := range added {
		names[i] = c.name
	}
	return names
}

// columnsNamed finds the columns that a version's settings name; false if this program does not know one.
func (p *Knowledge) columnsNamed(settings map[string]string) (found []column, known bool) {
	if settings[settingColumns] == "" {
		return nil, true
	}
	for name := range strings.SplitSeq(settings[settingColumns], ",") {
		at := slices.IndexFunc(p.added, func(c column) bool { return c.name == name })
		if at < 0 {
			return nil, false
		}
		found = append(found, p.added[at])
	}
	return found, true
}

// addColumns is the SQL that adds a version's columns to its table.
func addColumns(engine database.Engine, t tables, added []column) string {
	var statements strings.Builder
	for _, c := range added {
		kind := c.postgres
		if engine == database.SQLite {
			kind = c.sqlite
		}
		fmt.Fprintf(&statements, "ALTER TABLE %s ADD COLUMN %s %s;\n", t.knowledge, c.name, kind)
	}
	return statements.String()
}

// columnsWith are all columns of the knowledge table, in the order of a row's values.
func columnsWith(added []column) []string {
	return append(slices.Clone(knowledgeColumns), namesOfColumns(added)...)
}

func valuesOf(added []column, k *domain.Knowledge) []any {
	values := make([]any, len(added))
	for i, c := range added {
		values[i] = c.value(k)
	}
	return values
}

// setting is what an update of a row sets besides.
func setting(added []column) string {
	var set strings.Builder
	for _, c := range added {
		fmt.Fprintf(&set, ", %[1]s = EXCLUDED.%[1]s", c.name)
	}
	return set.String()
}

// readAdded reads the added columns of a slice's items, by id.
func (p *Knowledge) readAdded(ctx context.Context, tx bun.IDB, v version, s events.Slice) (map[string][]any, error) {
	found := map[string][]any{}
	if len(v.added) == 0 {
		return found, nil
	}
	query := inSlice(tx.NewSelect().TableExpr("? AS k", v.tables.knowledge).Column("id").Column(namesOfColumns(v.added)...), s)
	_, err := scanRows(ctx, query, func(rows *sql.Rows) ([]any, error) {
		var id string
		values, into := make([]any, len(v.added)), []any{&id}
		for i := range values {
			into = append(into, &values[i])
		}
		err := rows.Scan(into...)
		for i, value := range values {
			if bytes, is := value.([]byte); is {
				values[i] = string(bytes)
			}
		}
		found[id] = values
		return nil, err
	})
	if err != nil {
		return nil, p.failed(ctx, "read a version", err)
	}
	return found, nil
}

// addedDiffering names the added columns that only one of two versions has, or in which an item differs.
func addedDiffering(before, after version, was, have []any) (names []string) {
	for i, c := range after.added {
		at := slices.IndexFunc(before.added, func(o column) bool { return o.name == c.name })
		base := len(knowledgeColumns)
		if at < 0 || lineOf(was[base+at:base+at+1]) != lineOf(have[base+i:base+i+1]) {
			names = append(names, c.name)
		}
	}
	return append(names, onlyIn(before, after)...)
}

// onlyIn names the added columns of one version that another does not have.
func onlyIn(one, other version) (names []string) {
	for _, c := range one.added {
		if !slices.ContainsFunc(other.added, func(o column) bool { return o.name == c.name }) {
			names = append(names, c.name)
		}
	}
	return names
}
