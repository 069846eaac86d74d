package main

import (
	"cmp"
	"fmt"
	"strings"
)

// searchAnswer is what a search found, and how.
type searchAnswer struct {
	Items    []hit        `json:"items"`
	Embedder string       `json:"embedder"`
	Degraded string       `json:"degraded"`
	MinScore float64      `json:"min_score"`
	Explain  *explanation `json:"explain"`
}

type hit struct {
	Knowledge knowledge `json:"knowledge"`
	Score     float64   `json:"score"`
	Scope     string    `json:"scope"`
	Tier      string    `json:"tier"`
	Weight    float64   `json:"weight"`
	Reason    string    `json:"reason"`
	Contested bool      `json:"contested"`
	Parts     struct {
		Semantic   float64 `json:"semantic"`
		Pending    bool    `json:"semantic_pending"`
		Lexical    float64 `json:"lexical"`
		Confidence float64 `json:"confidence"`
	} `json:"parts"`
	Terms []string `json:"terms"`
}

type explanation struct {
	Audience  []string    `json:"audience"`
	Visible   int64       `json:"visible"`
	Passed    int64       `json:"passed"`
	BestBelow float64     `json:"best_below"`
	Terms     []string    `json:"terms"`
	Plans     []scopePlan `json:"plans"`
	Took      float64     `json:"took_ms"`
}

type scopePlan struct {
	Scope string `json:"scope"`
	Items int64  `json:"items"`
	Plan  string `json:"plan"`
}

// snippetColumns is how much of the content a hit shows: a paragraph of some lines.
const snippetColumns = 240

func (a searchAnswer) print(c *console, t tabular, explain bool) error {
	if len(a.Items) == 0 {
		t.empty(c, a.nothing())
	} else {
		rows := &grid{heads: []string{"SCORE", "SCOPE", "VOTES", "ID", mark, "KNOWLEDGE"}}
		for _, h := range a.Items {
			text := h.Knowledge.snippet(snippetColumns)
			if h.Reason != "" {
				text = amber.Render("("+printable(h.Reason)+")") + " " + text
			}
			if explain && !t.Quiet {
				text += "\n" + faint.Render(h.how())
			}
			rows.row(fmt.Sprintf("%.2f", h.Score), printable(h.Scope), h.Knowledge.Eval.short(), printable(h.Knowledge.ID), h.Knowledge.marks(), text)
		}
		if rows.marked() == rows { // the text needs their room
			rows.spare = []string{"VOTES", "SCOPE"}
		}
		if err := t.show(c, rows); err != nil {
			return err
		}
	}
	if explain && a.Explain != nil {
		c.say("\n%s", a.how())
	}
	if a.Degraded != "" {
		c.note("found by words alone: %s", printable(a.Degraded))
	}
	return nil
}

// nothing says why an answer is empty, as far as the server knows.
func (a searchAnswer) nothing() string {
	if a.Explain == nil {
		return "nothing found"
	}
	e := a.Explain
	switch {
	case e.Visible == 0:
		return "nothing found: no knowledge is visible here"
	case e.Passed == 0:
		return fmt.Sprintf("nothing found: %d visible, but none passes the filters", e.Visible)
	case e.BestBelow > 0:
		return fmt.Sprintf("nothing found: %d visible, %d pass the filters; the best scores %.2f, below the threshold of %.2f (--min-score)",
			e.Visible, e.Passed, e.BestBelow, a.MinScore)
	default:
		return fmt.Sprintf("nothing found: %d visible, %d pass the filters, none is about this", e.Visible, e.Passed)
	}
}

// how says where the hit's score and place come from.
func (h hit) how() string {
	meaning := fmt.Sprintf("meaning %.2f", h.Parts.Semantic)
	if h.Parts.Pending {
		meaning = "meaning not computed yet"
	}
	line := fmt.Sprintf("%s · words %.2f · confidence %.2f → weight %.2f", meaning, h.Parts.Lexical, h.Parts.Confidence, h.Weight)
	if len(h.Terms) > 0 {
		line += " · " + printable(strings.Join(h.Terms, " "))
	}
	return line
}

// how says how the answer came about.
func (a searchAnswer) how() string {
	e := a.Explain
	audience := "everything in the tenant"
	if len(e.Audience) > 0 {
		audience = strings.Join(e.Audience, ", ")
	}
	lines := []string{
		fmt.Sprintf("searched   %s: %d visible, %d pass the filters, in %.1f ms", audience, e.Visible, e.Passed, e.Took),
		fmt.Sprintf("terms      %s", strings.Join(e.Terms, " ")),
		fmt.Sprintf("meaning    %s, threshold %.2f", a.Embedder, a.MinScore),
	}
	for _, plan := range e.Plans {
		lines = append(lines, fmt.Sprintf("vectors    %s: %d by %s", cmp.Or(plan.Scope, "everything"), plan.Items, plan.Plan))
	}
	return printable(strings.Join(lines, "\n"))
}
