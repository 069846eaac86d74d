package projections_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// node is a step of a plan.
type node struct {
	Type      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Condition string  `json:"Index Cond"`
	Rows      float64 `json:"Actual Rows"`
	Loops     float64 `json:"Actual Loops"`
	Removed   float64 `json:"Rows Removed by Filter"`
	Plans     []*node
}

func (n *node) all() []*node {
	nodes := []*node{n}
	for _, child := range n.Plans {
		nodes = append(nodes, child.all()...)
	}
	return nodes
}

// explained is the plan of a query, and its text to show.
func (w *world) explained(q query, options string) (nodes []*node, text string) {
	w.t.Helper()
	if err := w.db.QueryRowContext(w.t.Context(), q.settings+"EXPLAIN ("+options+"FORMAT JSON) "+q.text).Scan(&text); err != nil {
		w.t.Fatalf("%v in %s", err, q.text)
	}
	var plans []struct{ Plan *node }
	noError(w.t, json.Unmarshal([]byte(text), &plans))
	for _, plan := range plans {
		nodes = append(nodes, plan.Plan.all()...)
	}
	return nodes, text
}

func (w *world) readsLittleOfPostgreSQL(listener *statements) { w.readsLittle(listener) }

// readsLittle reads everything there is to read.
func (w *world) readsLittle(listener *statements) {
	reads()[0].do(w) // the first search reads the sketches into memory, once
	for _, work := range reads() {
		if work.onSQLite {
			continue
		}
		var used []string
		for _, query := range listener.during(func() { work.do(w) }) {
			if strings.Contains(query.text, "count(*)") {
				continue
			}
			nodes, plan := w.explained(query, "")
			for _, n := range nodes {
				if n.Type == "Index Only Scan" {
					used = append(used, n.Index)
				}
			}
			if wrong := slices.IndexFunc(nodes, readsAll); wrong >= 0 {
				w.t.Errorf("to %s: %s on %s%s in\n%s\n%s", work.name,
					nodes[wrong].Type, nodes[wrong].Relation, nodes[wrong].Index, query.text, short(plan))
			}
		}
		for _, index := range work.uses {
			if !slices.Contains(used, index) {
				w.t.Errorf("to %s: the index %s was not enough, only %v were", work.name, index, used)
			}
		}
	}
}

// readsAll tells whether a step reads all of a table, or all of a tenant in it.
func readsAll(n *node) bool {
	if n.Type == "Seq Scan" {
		return strings.HasPrefix(n.Relation, "knowledge_1") && n.Relation != "knowledge_1_changes" || n.Relation == "meaning_1" || n.Relation == "vectors_1"
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

func (w *world) exec(statement string) {
	w.t.Helper()
	must(w.db.ExecContext(w.t.Context(), statement))(w.t)
}

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
				few := ofFew.MatchString(step)
				if scansAll.MatchString(step) || readsTenant.MatchString(step) && !few {
					w.t.Errorf("to %s: %s in\n%s", work.name, step, query.text)
				}
			}
		}
	}
}

// In the index of numbers, a tenant's newest items come first; others have few of its items, changes or events.
var (
	ofFew       = regexp.MustCompile(`(knowledge_1_(number|gone|stale|harmful|judged|derived|replaced)|autoindex_knowledge_1_changes_1|knowledge_1_changes_pkey|events_deactivated)\b`)
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
