package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/api"
)

// snippetColumns is how much of the content a hit shows: a paragraph of some lines.
const snippetColumns = 240

// printAnswer shows what a search found, and how.
func printAnswer(c *console, a api.SearchAnswer, t tabular, explain bool) error {
	if len(a.Items) == 0 {
		t.empty(c, whyNothing(a))
	} else {
		rows := &grid{heads: []string{"SCORE", "SCOPE", "VOTES", "ID", mark, "KNOWLEDGE"}}
		for _, h := range a.Items {
			k := knowledge{*h.Knowledge}
			text := k.snippet(snippetColumns)
			if h.Reason != "" {
				text = amber.Render("("+printable(h.Reason)+")") + " " + text
			}
			if explain && !t.Quiet {
				text += "\n" + faint.Render(howScored(h))
			}
			rows.row(fmt.Sprintf("%.2f", h.Score), printable(h.Scope), fmt.Sprintf("+%d -%d", k.rating().Others(), k.rating().Harmful), printable(k.ID), k.marks(), text)
		}
		if rows.marked() == rows { // the text needs their room
			rows.spare = []string{"VOTES", "SCOPE"}
		}
		if err := t.show(c, rows); err != nil {
			return err
		}
	}
	if explain && a.Explain != nil {
		c.say("\n%s", howAnswered(a))
	}
	if a.Degraded != "" {
		c.note("found by words alone: %s", printable(a.Degraded))
	}
	return nil
}

// whyNothing says why an answer is empty, as far as the server knows.
func whyNothing(a api.SearchAnswer) string {
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

// howScored says where the hit's score and place come from.
func howScored(h api.Hit) string {
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

// howAnswered says how the answer came about.
func howAnswered(a api.SearchAnswer) string {
	e := a.Explain
	audience := "everything in the tenant"
	if len(e.Audience) > 0 {
		audience = strings.Join(e.Audience, ", ")
	}
	lines := []string{
		fmt.Sprintf("searched   %s: %d visible, %d pass the filters, in %.1f ms", audience, e.Visible, e.Passed, e.TookMS),
		fmt.Sprintf("terms      %s", strings.Join(e.Terms, " ")),
		fmt.Sprintf("meaning    %s, threshold %.2f", a.Embedder, a.MinScore),
	}
	for _, plan := range e.Plans {
		lines = append(lines, fmt.Sprintf("vectors    %s: %d by %s", cmp.Or(plan.Scope, "everything"), plan.Items, plan.Plan))
	}
	return printable(strings.Join(lines, "\n"))
}
