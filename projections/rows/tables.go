package rows

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

//go:embed sql/*.sql
var definitions embed.FS

// Tables names the tables of one version of the knowledge projection.
type Tables struct {
	Version int

	Knowledge Source
	Postings  Source
	Changes   Source
	Votes     Source
	Reports   Source

	// How they differ from those of this program: see [Tables.InForm].
	Differs       bool        // in anything
	Changed       []string    // columns of knowledge, and other tables, whose values differ
	Lost          []string    // columns without which nothing can be read
	Unread        []bun.Ident // tables of the words of another form
	lackedIndexes []string
}

func TablesOf(version int) Tables {
	name := fmt.Sprintf("knowledge_%d", version)
	return Tables{
		Version:   version,
		Knowledge: Source{Name: bun.Ident(name)},
		Postings:  Source{Name: bun.Ident(name + "_blocks")},
		Changes:   Source{Name: bun.Ident(name + "_changes")},
		Votes:     Source{Name: bun.Ident(name + "_votes")},
		Reports:   Source{Name: bun.Ident(name + "_reports")},
	}
}

func (t Tables) All() []bun.Ident {
	return []bun.Ident{t.Knowledge.Name, t.Postings.Name, t.Changes.Name, t.Votes.Name, t.Reports.Name}
}

// Definition is the SQL that creates a version's tables: sql/NAME.ENGINE.sql filled with data.
func Definition(engine database.Engine, name string, data any) (string, error) {
	file := fmt.Sprintf("%s.%s.sql", name, engine)
	parsed, err := template.New(file).Funcs(functions).ParseFS(definitions, "sql/*.sql") // one may have others in it
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", file, err)
	}
	var text strings.Builder
	if err := parsed.Execute(&text, data); err != nil {
		return "", fmt.Errorf("fill %s: %w", file, err)
	}
	return text.String(), nil
}

// functions define the columns of the state, with types of SQL.
var functions = template.FuncMap{
	"state": func(text, flag string) string { return defined(namesOf(words), text) + defined(namesOf(flags), flag) },
}

func defined(columns []string, as string) string {
	return strings.Join(columns, " "+as+", ") + " " + as + ", "
}

// PastTables names the tables of one version.
type PastTables struct {
	Version                              int
	Items, Scopes, Counts, Words, Pieces Source
	Owners                               bun.Ident // an index of items
}

func PastTablesOf(version int) PastTables {
	name := fmt.Sprintf("past_%d", version)
	of := func(table string) Source { return Source{Name: bun.Ident(name + table)} }
	return PastTables{
		Version: version, Items: of(""), Scopes: of("_scopes"), Counts: of("_counts"), Words: of("_words"),
		Pieces: of("_pieces"), Owners: bun.Ident(name + "_owner"),
	}
}

func (t PastTables) All() []bun.Ident {
	return []bun.Ident{t.Items.Name, t.Scopes.Name, t.Counts.Name, t.Words.Name, t.Pieces.Name}
}
