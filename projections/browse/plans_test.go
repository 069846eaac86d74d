package browse_test

import (
	"regexp"
	"slices"
	"strings"

	. "github.com/annals-kb/annals/projections/projectiontest"
)

func readsLittleOfPostgreSQL(w *World, listener *Statements) { readsLittle(w, listener) }

// readsLittle reads everything there is to read.
func readsLittle(w *World, listener *Statements) {
	reads()[0].do(w) // the first search reads the sketches into memory, once
	for _, work := range reads() {
		if work.onSQLite {
			continue
		}
		var used []string
		for _, query := range listener.During(func() { work.do(w) }) {
			if strings.Contains(query.Text, "count(*)") {
				continue
			}
			nodes, plan := w.Explained(query, "")
			for _, n := range nodes {
				if n.Type == "Index Only Scan" {
					used = append(used, n.Index)
				}
			}
			if wrong := slices.IndexFunc(nodes, readsAll); wrong >= 0 {
				w.T.Errorf("to %s: %s on %s%s in\n%s\n%s", work.name,
					nodes[wrong].Type, nodes[wrong].Relation, nodes[wrong].Index, query.Text, short(plan))
			}
		}
		for _, index := range work.uses {
			if !slices.Contains(used, index) {
				w.T.Errorf("to %s: the index %s was not enough, only %v were", work.name, index, used)
			}
		}
	}
}

// readsAll tells whether a step reads all of a table, or all of a tenant in it.
func readsAll(n *Node) bool {
	if n.Type == "Seq Scan" {
		return strings.HasPrefix(n.Relation, "knowledge_1") && n.Relation != "knowledge_1_changes" || n.Relation == "meaning_2" || n.Relation == "vectors_2"
	}
	return n.Condition == "(tenant = 'default'::text)" && !ofFew.MatchString(n.Index)
}

// short leaves the costs of a plan out.
func short(plan string) string {
	var lines []string
	for line := range strings.Lines(plan) {
		if strings.Contains(line, "Type") || strings.Contains(line, "Name") || strings.Contains(line, "Cond") ||
			strings.Contains(line, "Filter") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func readsLittleOfSQLite(w *World, listener *Statements) {
	reads()[0].do(w) // the first search reads the sketches into memory, once
	for _, work := range reads() {
		for _, query := range listener.During(func() { work.do(w) }) {
			if strings.Contains(query.Text, "count(*)") || strings.Contains(query.Text, "sqlite_schema") { // the schema is small
				continue
			}
			if lowerBounds.MatchString(query.Text) {
				w.T.Errorf("to %s: SQLite may begin at the lower of two bounds in\n%s", work.name, query.Text)
			}
			for _, step := range w.Steps(query.Text) {
				few := ofFew.MatchString(step)
				if scansAll.MatchString(step) || readsTenant.MatchString(step) && !few {
					w.T.Errorf("to %s: %s in\n%s", work.name, step, query.Text)
				}
			}
		}
	}
}

// In the index of numbers, a tenant's newest items come first; others have few of its items, changes or events.
var (
	ofFew       = regexp.MustCompile(`(knowledge_1_(number|gone|stale|harmful|judged|derived|replaced)|autoindex_knowledge_1_changes_1|knowledge_1_changes_pkey|events_deactivated)\b`)
	scansAll    = regexp.MustCompile(`^SCAN (k|s|t|m|v|a|r|knowledge_1\w*|meaning_2|vectors_2)( USING|$)`)
	lowerBounds = regexp.MustCompile(`k\.uri >[^()]*\)( AND \([^()]*\))* AND \(k\.uri >`)
	readsTenant = regexp.MustCompile(`\(tenant=\?\)$`)
)
