package projections

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

// tables names the tables of one version of the knowledge projection.
type tables struct {
	version int

	knowledge bun.Ident
	scopes    bun.Ident
	terms     bun.Ident
	votes     bun.Ident
	reports   bun.Ident
}

func tablesOf(version int) tables {
	name := fmt.Sprintf("knowledge_%d", version)
	return tables{
		version:   version,
		knowledge: bun.Ident(name),
		scopes:    bun.Ident(name + "_scopes"),
		terms:     bun.Ident(name + "_terms"),
		votes:     bun.Ident(name + "_votes"),
		reports:   bun.Ident(name + "_reports"),
	}
}

func (t tables) all() []bun.Ident {
	return []bun.Ident{t.knowledge, t.scopes, t.terms, t.votes, t.reports}
}

// definition is the SQL that creates a version's tables: sql/NAME.ENGINE.sql filled with data.
func definition(engine database.Engine, name string, data any) (string, error) {
	file := fmt.Sprintf("sql/%s.%s.sql", name, engine)
	parsed, err := template.ParseFS(definitions, file)
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", file, err)
	}
	var text strings.Builder
	if err := parsed.Execute(&text, data); err != nil {
		return "", fmt.Errorf("fill %s: %w", file, err)
	}
	return text.String(), nil
}
