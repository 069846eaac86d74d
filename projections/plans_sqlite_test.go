package projections_test

import (
	"fmt"
	"regexp"
	"strings"
)

func (w *world) readsLittleOfSQLite(listener *statements) {
	reads()[0].do(w) // the first search reads the sketches into memory, once
	for _, work := range reads() {
		for _, query := range listener.during(func() { work.do(w) }) {
			if strings.Contains(query.text, "count(*)") || strings.Contains(query.text, "sqlite_schema") { // the schema is small
				continue
			}
			if lowerBounds.MatchString(query.text) {
				w.t.Errorf("to %s: SQLite may begin at the lower of two bounds in\n%s", work.name, query.text)
			}
			for _, step := range w.steps(query.text) {
				few := ofFew.MatchString(step) && !(work.fromScopes && strings.Contains(step, "knowledge_1_number"))
				if scansAll.MatchString(step) || readsTenant.MatchString(step) && !few {
					w.t.Errorf("to %s: %s in\n%s", work.name, step, query.text)
				}
			}
		}
	}
}

// In the index of numbers, a tenant's newest items come first; others have few of its items, or few bags.
var (
	ofFew       = regexp.MustCompile(`knowledge_1_(number|gone|stale|harmful|derived|replaced|scopes_bags)\b`)
	scansAll    = regexp.MustCompile(`^SCAN (k|s|t|m|v|a|r|knowledge_1\w*|meaning_1|vectors_1)( USING|$)`)
	lowerBounds = regexp.MustCompile(`k\.uri >[^()]*\)( AND \([^()]*\))* AND \(k\.uri >`)
	readsTenant = regexp.MustCompile(`\(tenant=\?\)$`)
)

// steps are what SQLite says of its plan.
func (w *world) steps(query string) (steps []string) {
	w.t.Helper()
	for _, row := range w.table("EXPLAIN QUERY PLAN " + query) {
		steps = append(steps, fmt.Sprint(row["detail"]))
	}
	return steps
}
