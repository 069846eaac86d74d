package projections

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// termRow is a row of the index of terms.
type termRow struct {
	term   string
	scope  domain.Scope
	number int64
	count  int
	words  int
}

// appendTerms appends the rows that index an item.
func appendTerms(rows []termRow, k *domain.Knowledge, b documentTerms) []termRow {
	for _, scope := range k.Scopes {
		for i, term := range b.Terms {
			rows = append(rows, termRow{term: term, scope: scope, number: k.Number, count: b.Counts[i], words: b.Words})
		}
	}
	return rows
}

// insertTerms writes rows in the order of their key, so that neighbours go to the same page one after
// the other: on either engine that saves a third of the time.
func insertTerms(script *script, t tables, tenant string, rows []termRow) {
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b termRow) int {
		return cmp.Or(strings.Compare(a.term, b.term), strings.Compare(string(a.scope), string(b.scope)), cmp.Compare(a.number, b.number))
	})
	if script.engine == database.Postgres {
		insertTermArrays(script, t, tenant, rows)
		return
	}
	values := make([][]any, len(rows))
	for i, r := range rows {
		values[i] = []any{tenant, r.term, string(r.scope), r.number, r.count, r.words}
	}
	script.insert(t.terms, termsColumns, values, "")
}

// insertTermArrays sends a column as one array: PostgreSQL parses these faster than VALUES.
func insertTermArrays(script *script, t tables, tenant string, rows []termRow) {
	script.write("INSERT INTO ", string(t.terms), " (", strings.Join(termsColumns, ", "), ")\nSELECT ")
	script.Text = database.AppendString(script.Text, tenant)
	script.write(", term, scope, number, count, words FROM unnest(")
	for i, column := range []struct {
		kind   string
		append func([]byte, termRow) []byte
	}{
		{"text", func(b []byte, r termRow) []byte { return database.AppendElement(b, r.term) }},
		{"text", func(b []byte, r termRow) []byte { return database.AppendElement(b, string(r.scope)) }},
		{"bigint", func(b []byte, r termRow) []byte { return strconv.AppendInt(b, r.number, 10) }},
		{"integer", func(b []byte, r termRow) []byte { return strconv.AppendInt(b, int64(r.count), 10) }},
		{"integer", func(b []byte, r termRow) []byte { return strconv.AppendInt(b, int64(r.words), 10) }},
	} {
		if i > 0 {
			script.write(", ")
		}
		script.write("'{")
		for j, r := range rows {
			if j > 0 {
				script.write(",")
			}
			script.Text = column.append(script.Text, r)
		}
		script.write("}'::", column.kind, "[]")
	}
	script.write(") AS found (term, scope, number, count, words)")
	script.end()
}
