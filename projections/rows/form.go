package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
)

// Form is the number of the form that this program gives the tables of a version. It grows with each change of their
// columns, and a test compares both.
const Form = 1

// Source is a table of a version. A query reads it as if it had the columns that this program knows.
type Source struct {
	Name bun.Ident
	form *form // nil if it is as this program makes it
}

// form is how a table of another release, or one that people changed, differs from that of this program.
type form struct {
	query string            // reads it; empty if the table has all columns
	lacks []string          // columns whose values cannot be read or written
	needs []database.Column // columns that this program does not know and that each row must have
}

func (s Source) String() string {
	if s.form == nil || s.form.query == "" {
		return string(s.Name)
	}
	return s.form.query
}

// AppendQuery implements [schema.QueryAppender].
func (s Source) AppendQuery(_ schema.QueryGen, b []byte) ([]byte, error) {
	return append(b, s.String()...), nil
}

// Lacks tells whether values of any of the columns cannot be read.
func (s Source) Lacks(columns ...string) bool { return len(s.Stored(columns)) < len(columns) }

// Stored are those of some columns that can be written.
func (s Source) Stored(columns []string) []string {
	if s.form == nil || len(s.form.lacks) == 0 {
		return columns
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return slices.Contains(s.form.lacks, c) })
}

// Insert inserts rows; then is the ON CONFLICT clause. It leaves out what the table lacks.
func (s Source) Insert(script *Script, columns []string, rows [][]any, then string) {
	if s.form == nil {
		script.InsertRows(s.Name, columns, rows, then)
		return
	}
	stored := s.Stored(columns)
	all := make([][]any, len(rows))
	for i, row := range rows {
		for n, value := range row {
			if slices.Contains(stored, columns[n]) {
				all[i] = append(all[i], value)
			}
		}
		for _, c := range s.form.needs {
			all[i] = append(all[i], emptyOf(c.Type))
		}
	}
	for _, c := range s.form.needs {
		stored = append(slices.Clip(stored), c.Name)
	}
	script.InsertRows(s.Name, stored, all, then)
}

// InForm are the tables in the form that they have in the database. Empty values stand for what they lack. Values of
// columns that say who may see an item hide it. made is the SQL of this program's tables and indexes.
func (t Tables) InForm(made string, there database.Layout) Tables {
	wanted := database.LayoutMade(made)
	for _, index := range wanted.Indexes {
		if !slices.Contains(there.Indexes, index) {
			t.lackedIndexes = append(t.lackedIndexes, index)
			t.Differs = true
		}
	}
	for s, keys := range map[*Source]string{
		&t.Knowledge: "tenant id number", &t.Votes: "tenant id event_id", &t.Reports: "tenant id reporter",
	} {
		t.compare(s, strings.Fields(keys), wanted.Of(string(s.Name)), there.Of(string(s.Name)))
	}
	if len(t.Lost) > 0 {
		lost := t.Lost
		t = TablesOf(t.Version)
		t.Lost = lost
	}
	for _, table := range []bun.Ident{t.Postings, t.Changes} {
		if len(there.Of(string(table))) == 0 {
			t.Lost = append(t.Lost, string(table))
		}
	}
	return t
}

// compare finds out how a table differs.
func (t *Tables) compare(s *Source, keys []string, wanted, there []database.Column) {
	var f form
	var changed []string
	reads := make([]string, len(wanted))
	known := map[string]bool{}
	for i, w := range wanted {
		at := slices.IndexFunc(there, func(c database.Column) bool { return c.Name == w.Name })
		switch {
		case at >= 0 && there[at].Type == w.Type:
			reads[i], known[w.Name] = w.Name, true
			continue
		case at >= 0 && isReadable(there[at].Type, w.Type):
			known[w.Name] = true
			reads[i] = fmt.Sprintf("CAST(%s AS %s) AS %[1]s", w.Name, w.Type)
		default:
			f.lacks = append(f.lacks, w.Name)
			reads[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", standInFor(w), w.Type, w.Name)
		}
		changed = append(changed, w.Name)
	}
	for _, c := range there {
		if known[c.Name] {
			continue
		}
		if t.Differs = true; c.Required {
			f.needs = append(f.needs, c)
		}
	}
	if len(there) == 0 {
		t.Lost = append(t.Lost, string(s.Name))
		return
	}
	for _, key := range keys {
		if slices.Contains(f.lacks, key) {
			t.Lost = append(t.Lost, string(s.Name)+"."+key)
		}
	}
	if len(changed) > 0 {
		t.Differs = true
		f.query = "(SELECT " + strings.Join(reads, ", ") + " FROM " + string(s.Name) + ")"
		if s.Name == t.Knowledge.Name {
			t.Changed = append(t.Changed, changed...)
		} else { // a verification counts by table
			t.Changed = append(t.Changed, strings.TrimPrefix(string(s.Name), string(t.Knowledge.Name)+"_"))
		}
	}
	if len(changed)+len(f.needs) > 0 {
		s.form = &f
	}
}

// kindsOfTypes are types whose values convert into each other.
var kindsOfTypes = map[string]string{
	"int2": "number", "int4": "number", "int8": "number", "float4": "number", "float8": "number", "numeric": "number",
	"INTEGER": "number", "INT": "number", "REAL": "number", "ANY": "number",
	"text": "text", "varchar": "text", "bpchar": "text", "TEXT": "text", "": "text", // SQLite allows no type
	"json": "json", "jsonb": "json", "timestamptz": "time", "timestamp": "time", "bool": "truth",
}

// isReadable tells whether values of a type can be stored as another one, and read back.
func isReadable(stored, wanted string) bool {
	kind := kindsOfTypes[stored]
	return kind == "text" || kind != "" && kind == kindsOfTypes[wanted]
}

// standInFor is an expression for a column that a table lacks.
func standInFor(c database.Column) string {
	switch c.Name {
	case "status":
		return "'deleted'"
	case "visibility":
		return "'private'"
	case "confidence", "expired_confidence":
		return "0.5"
	case "tags", "source", "baseline":
		return "'{}'"
	case "scopes", "derived_from", "relations":
		return "'[]'"
	case "revision", "version":
		return "1"
	}
	switch kind := kindsOfTypes[c.Type]; {
	case !c.Required, strings.HasSuffix(c.Name, "_at"):
		return "NULL"
	case kind == "number":
		return "0"
	case kind == "truth":
		return "FALSE"
	}
	return "''"
}

// emptyOf is a value of a column that this program does not know.
func emptyOf(columnType string) any {
	switch kindsOfTypes[columnType] {
	case "number":
		return int64(0)
	case "truth":
		return false
	case "json":
		return "{}"
	case "time":
		return "1970-01-01T00:00:00Z"
	}
	switch columnType {
	case "uuid":
		return "00000000-0000-0000-0000-000000000000"
	case "bytea", "BLOB":
		return []byte{}
	}
	return ""
}
