package projections_test

import (
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// canary is a word that nothing else says.
const canary = "zorblaxquine"

// tell is secret with another URI.
func (w *world) tell(id, uri string) {
	w.t.Helper()
	content := "we call it " + canary + " now"
	w.know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay", domain.Public},
		Source:   domain.Source{Name: "the " + canary + " book", URLs: []string{"https://example.org/" + canary}},
		Baseline: &domain.Eval{Helpful: 1, HelpfulHistory: []domain.Use{{Query: "what is " + canary + "?"}}},
		Text: domain.Text{
			Task: "naming the " + canary, Content: "the " + canary + " was called something else before",
			Abstract: "a " + canary, Overview: "of the " + canary, Tags: domain.Tags{"labels": {canary}},
			Meta: []byte(`{"name":"` + canary + `"}`),
			URI:  uri,
		},
	})
	target := domain.Target{By: w.by, ID: id}
	w.submit(domain.GiveFeedback{
		Target: target, Verdict: domain.Helpful, TraceID: "t", Query: canary + "?",
		Outcome: canary + "!",
	})
	w.submit(domain.ReportStale{Target: target, Reason: canary + " moved"})
	w.submit(domain.Revise{Target: target, Changes: domain.Revised{Content: &content}})
}

// tables are the names of all tables.
func (w *world) tables() (names []string) {
	w.t.Helper()
	query := `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if w.db.Engine == database.Postgres {
		query = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	noError(w.t, w.db.NewRaw(query).Scan(w.t.Context(), &names))
	return names
}
