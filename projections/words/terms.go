package words

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// TermRow is a row of the index of terms.
type TermRow struct {
	hash   int64
	scope  domain.Scope
	number int64
	count  int
	words  int
}

// AppendTerms appends the rows that index an item.
func AppendTerms(rows []TermRow, number int64, scopes []domain.Scope, terms ItemTerms) []TermRow {
	for _, scope := range scopes {
		terms.Each(func(hash uint64, count int) {
			rows = append(rows, TermRow{hash: int64(hash), scope: scope, number: number, count: count, words: terms.Words})
		})
	}
	return rows
}

// SortTerms sorts rows by their key, so that neighbours go to the same page. On either engine that saves a third of
// the time.
func SortTerms(list []TermRow) {
	slices.SortFunc(list, func(a, b TermRow) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), strings.Compare(string(a.scope), string(b.scope)),
			cmp.Compare(a.number, b.number))
	})
}

// TermValues are the rows as column values.
func TermValues(tenant string, list []TermRow) [][]any {
	values := make([][]any, len(list))
	// Converting a string to any allocates. Reusing the values saves 5 % of a rebuild's index.
	var sameTenant, scope any = tenant, ""
	for i, r := range list {
		if scope != string(r.scope) {
			scope = string(r.scope)
		}
		values[i] = []any{sameTenant, r.hash, scope, r.number, r.count, r.words}
	}
	return values
}

// InsertTerms adds rows to the index of terms, except those that it already has.
func InsertTerms(script *rows.Script, t rows.Tables, tenant string, list []TermRow) {
	if len(list) == 0 {
		return
	}
	SortTerms(list)
	if script.Engine == database.Postgres {
		insertTermArrays(script, t, tenant, list)
		return
	}
	InsertTermValues(script, t, TermValues(tenant, list))
}

// InsertTermValues is [InsertTerms] for rows that are prepared and sorted.
func InsertTermValues(script *rows.Script, t rows.Tables, values [][]any) {
	script.InsertRows(t.Terms, rows.TermsColumns, values, keepOld)
}

const keepOld = "ON CONFLICT DO NOTHING"

// insertTermArrays sends a column as one array: PostgreSQL parses these faster than VALUES.
func insertTermArrays(script *rows.Script, t rows.Tables, tenant string, list []TermRow) {
	script.WriteText("INSERT INTO ", string(t.Terms), " (", strings.Join(rows.TermsColumns, ", "), ")\nSELECT ")
	script.Text = database.AppendString(script.Text, tenant)
	script.WriteText(", term, scope, number, count, words FROM unnest(")
	for i, column := range []struct {
		kind   string
		append func([]byte, TermRow) []byte
	}{
		{"bigint", func(b []byte, r TermRow) []byte { return strconv.AppendInt(b, r.hash, 10) }},
		{"text", func(b []byte, r TermRow) []byte { return database.AppendElement(b, string(r.scope)) }},
		{"bigint", func(b []byte, r TermRow) []byte { return strconv.AppendInt(b, r.number, 10) }},
		{"integer", func(b []byte, r TermRow) []byte { return strconv.AppendInt(b, int64(r.count), 10) }},
		{"integer", func(b []byte, r TermRow) []byte { return strconv.AppendInt(b, int64(r.words), 10) }},
	} {
		if i > 0 {
			script.WriteText(", ")
		}
		script.WriteText("'{")
		for j, r := range list {
			if j > 0 {
				script.WriteText(",")
			}
			script.Text = column.append(script.Text, r)
		}
		script.WriteText("}'::", column.kind, "[]")
	}
	script.WriteText(") AS found (term, scope, number, count, words)\n", keepOld)
	script.EndStatement()
}
