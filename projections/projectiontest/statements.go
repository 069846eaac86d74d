package projectiontest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/database/databasetest"
)

// Statements are what was sent to a database.
type Statements struct{ databasetest.Statements }

// Query is a statement that looks for rows, and the settings that stand before it.
type Query struct{ Settings, Text string }

// During are the queries that something sends.
func (s *Statements) During(do func()) []Query {
	before := len(s.Sent())
	do()
	var queries []Query
	for _, sent := range s.Sent()[before:] {
		settings := []string{""}
		for text := range strings.SplitSeq(sent, ";\n") {
			text = strings.TrimSpace(text)
			switch verb, _, _ := strings.Cut(text, " "); verb {
			case "SET":
				settings = append(settings[:len(settings)-1], text, "")
			case "SELECT", "WITH", "DELETE", "UPDATE":
				queries = append(queries, Query{strings.Join(settings, ";\n"), text})
			}
		}
	}
	return queries
}

// Node is a step of a plan.
type Node struct {
	Type      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Condition string  `json:"Index Cond"`
	Rows      float64 `json:"Actual Rows"`
	Loops     float64 `json:"Actual Loops"`
	Removed   float64 `json:"Rows Removed by Filter"`
	Plans     []*Node
}

func (n *Node) all() []*Node {
	nodes := []*Node{n}
	for _, child := range n.Plans {
		nodes = append(nodes, child.all()...)
	}
	return nodes
}

// Explained is the plan of a query, and its text to show.
func (w *World) Explained(q Query, options string) (nodes []*Node, text string) {
	w.T.Helper()
	explain := q.Settings + "EXPLAIN (" + options + "FORMAT JSON) " + q.Text
	if err := w.DB.QueryRowContext(w.T.Context(), explain).Scan(&text); err != nil {
		w.T.Fatalf("%v in %s", err, q.Text)
	}
	var plans []struct{ Plan *Node }
	NoError(w.T, json.Unmarshal([]byte(text), &plans))
	for _, plan := range plans {
		nodes = append(nodes, plan.Plan.all()...)
	}
	return nodes, text
}

func (w *World) Exec(statement string) {
	w.T.Helper()
	Must(w.DB.ExecContext(w.T.Context(), statement))(w.T)
}

// Steps are what SQLite says of its plan.
func (w *World) Steps(query string) (steps []string) {
	w.T.Helper()
	for _, row := range w.Table("EXPLAIN QUERY PLAN " + query) {
		steps = append(steps, fmt.Sprint(row["detail"]))
	}
	return steps
}
