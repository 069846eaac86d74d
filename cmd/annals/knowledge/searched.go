package knowledge

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// SnippetColumns is how much of the content a hit shows: a paragraph of some lines.
const SnippetColumns = 240

// printAnswer shows what a search found, and how.
func printAnswer(c *terminal.Console, a api.SearchAnswer, t terminal.Tabular, explain bool) error {
	if len(a.Items) == 0 {
		t.Empty(c, whyNothing(a))
	} else {
		rows := &terminal.Grid{Heads: []string{"SCORE", "SCOPE", "VOTES", "ID", terminal.Mark, "KNOWLEDGE"}}
		for _, h := range a.Items {
			k := Knowledge{*h.Knowledge}
			text := k.Snippet(SnippetColumns)
			if h.Reason != "" {
				text = terminal.Amber.Render("("+terminal.Printable(h.Reason)+")") + " " + text
			}
			if explain && !t.Quiet {
				text += "\n" + terminal.Faint.Render(howScored(h))
			}
			rows.Row(fmt.Sprintf("%.2f", h.Score), terminal.Printable(h.Scope), fmt.Sprintf("+%d -%d", k.Rating().Others(), k.Rating().Harmful), terminal.Printable(k.ID), k.marks(), text)
		}
		if rows.Marked() == rows { // the text needs their room
			rows.Spare = []string{"VOTES", "SCOPE"}
		}
		if err := t.Show(c, rows); err != nil {
			return err
		}
	}
	if explain && a.Explain != nil {
		c.Say("\n%s", howAnswered(a))
	}
	if a.Degraded != "" {
		c.Note("found by words alone: %s", terminal.Printable(a.Degraded))
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
		line += " · " + terminal.Printable(strings.Join(h.Terms, " "))
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
	return terminal.Printable(strings.Join(lines, "\n"))
}
