package rows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/annals-kb/annals/database"
)

// Source is a table of a version. A query reads it as if it had the columns that this program knows.
type Source struct {
	Name bun.Ident
	form *form // nil if it is as this program makes it
}

// form is how a table of another release, or one that people changed, differs from that of this program.
type form struct {
	query string            // reads it; empty if the table has all columns
	gone  bool              // nothing is read or written
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
func (s Source) AppendQuery(gen schema.QueryGen, b []byte) ([]byte, error) {
	if s.form == nil || s.form.query == "" {
		return gen.AppendIdent(b, string(s.Name)), nil
	}
	return append(b, s.form.query...), nil
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
	switch {
	case s.form == nil:
		script.InsertRows(s.Name, columns, rows, then)
		return
	case s.form.gone:
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
	}
	for _, c := range s.form.needs {
		stored = append(slices.Clip(stored), c.Name)
		for i := range all {
			all[i] = append(all[i], emptyOf(c))
		}
	}
	script.InsertRows(s.Name, stored, all, then)
}

// InForm are the tables in the form that they have in the database. Stand-ins are read for what they lack. made is the
// SQL of this program's tables and indexes.
func (t Tables) InForm(made string, there database.Layout) Tables {
	wanted, plain := database.LayoutMade(made), t
	t.lackedIndexes = slices.DeleteFunc(wanted.Indexes, func(n string) bool { return slices.Contains(there.Indexes, n) })
	t.Differs = len(t.lackedIndexes) > 0
	for _, s := range []*Source{&t.Knowledge, &t.Votes, &t.Reports} {
		if t.compare(s, wanted.Of(string(s.Name)), there.Of(string(s.Name))); len(t.Lost) > 0 {
			plain.Lost = t.Lost
			return plain
		}
	}
	t.compareWords(wanted, there)
	return t
}

// compareWords finds out whether the index of words is as this program makes it. Nothing else can be made of one in
// another form, so that is not read: see [Tables.HasWords].
func (t *Tables) compareWords(wanted, there database.Layout) {
	tables := []*Source{&t.Postings, &t.Changes}
	if !slices.ContainsFunc(tables, func(s *Source) bool {
		return !wanted.SameAs(there, string(s.Name))
	}) {
		return
	}
	for _, s := range tables {
		var none []string
		for _, c := range wanted.Of(string(s.Name)) {
			none = append(none, fmt.Sprintf("CAST(NULL AS %s) AS %s", c.Type, c.Name))
		}
		s.form = &form{query: "(SELECT " + strings.Join(none, ", ") + " WHERE 1 = 0)", gone: true}
	}
	t.Differs, t.Changed = true, append(t.Changed, "terms")
	read := []string{string(t.Votes.Name), string(t.Reports.Name)}
	for _, c := range there.Columns {
		table := bun.Ident(c.Table)
		if strings.HasPrefix(c.Table, string(t.Knowledge.Name)+"_") && !slices.Contains(read, c.Table) &&
			!slices.Contains(t.Unread, table) {
			t.Unread = append(t.Unread, table)
		}
	}
}

// HasWords tells whether the index of words can be read. If not, the rows are read in its place.
func (t Tables) HasWords() bool { return t.Changes.form == nil }

// InForm is [Tables.InForm] for the past. Tables that cannot be read are lost.
func (t PastTables) InForm(made string, there database.Layout) (in PastTables, differs, lost bool) {
	var all Tables
	wanted := database.LayoutMade(made)
	for _, s := range []*Source{&t.Items, &t.Scopes, &t.Counts, &t.Words, &t.Pieces} {
		all.compare(s, wanted.Of(string(s.Name)), there.Of(string(s.Name)))
	}
	lost = len(all.Lost) > 0 || t.Items.Lacks("tag_bits") || !slices.Contains(there.Indexes, string(t.Owners))
	return t, all.Differs || lost, lost
}

// compare finds out how a table differs.
func (t *Tables) compare(s *Source, wanted, there []database.Column) {
	var f form
	changed, reads, known := []string(nil), make([]string, len(wanted)), map[string]bool{}
	for i, w := range wanted {
		reads[i] = w.Name
		at := slices.IndexFunc(there, func(c database.Column) bool { return c.Name == w.Name })
		if known[w.Name] = at >= 0 && isReadable(there[at].Type, w.Type); !known[w.Name] {
			f.lacks = append(f.lacks, w.Name)
			reads[i] = standInFor(w)
		}
		if !known[w.Name] || there[at].Type != w.Type {
			changed = append(changed, w.Name)
			reads[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", reads[i], w.Type, w.Name)
		}
	}
	for _, c := range there {
		if t.Differs = t.Differs || !known[c.Name]; !known[c.Name] && c.Required {
			f.needs = append(f.needs, c)
		}
	}
	keys := slices.DeleteFunc(strings.Fields("tenant id number event_id reporter since until"),
		func(key string) bool { return !slices.Contains(f.lacks, key) })
	switch {
	case len(there) == 0:
		t.Lost = append(t.Lost, string(s.Name))
	case len(keys) > 0:
		t.Lost = append(t.Lost, string(s.Name)+"."+keys[0])
	case len(changed) > 0:
		t.Differs = true
		f.query = "(SELECT " + strings.Join(reads, ", ") + " FROM " + string(s.Name) + ")"
		if s != &t.Knowledge { // a verification counts by table
			changed = []string{strings.TrimPrefix(string(s.Name), string(t.Knowledge.Name)+"_")}
		}
		t.Changed = append(t.Changed, changed...)
	}
	if len(changed)+len(f.needs) > 0 {
		s.form = &f
	}
}

// A kind has types whose values convert into each other.
var kinds = map[string]string{
	"int2": "0", "int4": "0", "int8": "0", "float4": "0", "float8": "0", "numeric": "0", "INTEGER": "0", "INT": "0",
	"REAL": "0", "ANY": "0", "bool": "FALSE", "json": "{}", "jsonb": "{}", "timestamptz": "1970-01-01",
	"timestamp": "1970-01-01", "text": "''", "varchar": "''", "bpchar": "''", "TEXT": "''", "": "''",
	"uuid": "00000000-0000-0000-0000-000000000000",
}

// isReadable tells whether each value of a type can be read as one of another. A text may say anything.
func isReadable(stored, wanted string) bool {
	kind := kinds[stored]
	return stored == wanted || kind != "" && kind == kinds[wanted]
}

// standIns are expressions for columns that a table lacks, if not an empty value. They hide an item rather than show
// it to others.
var standIns = map[string]string{
	"status": "'deleted'", "visibility": "'private'", "confidence": "0.5", "expired_confidence": "0.5",
	"tags": "'{}'", "source": "'{}'", "baseline": "'{}'", "scopes": "'[]'", "derived_from": "'[]'", "relations": "'[]'",
	"revision": "1", "version": "1", "created_at": "NULL", "updated_at": "NULL", "at": "NULL",
}

func standInFor(c database.Column) string {
	if !c.Required {
		return "NULL"
	}
	return cmp.Or(standIns[c.Name], kinds[c.Type])
}

// emptyOf is a value for a column that this program does not know.
func emptyOf(c database.Column) any {
	if kind := kinds[c.Type]; kind != "" {
		return strings.Trim(kind, "'")
	}
	return []byte{}
}
