package projections_test

import (
	"encoding/json"
	"fmt"
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

func (w *world) exec(statement string) {
	w.t.Helper()
	must(w.db.ExecContext(w.t.Context(), statement))(w.t)
}

// steps are what SQLite says of its plan.
func (w *world) steps(query string) (steps []string) {
	w.t.Helper()
	for _, row := range w.table("EXPLAIN QUERY PLAN " + query) {
		steps = append(steps, fmt.Sprint(row["detail"]))
	}
	return steps
}
