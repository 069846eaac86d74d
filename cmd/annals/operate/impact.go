package operate

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// changesAnything tells whether anything is other than before.
func changesAnything(i api.RebuildImpact) bool { return len(i.Confidence.Most)+len(i.Answers.Most) > 0 }

// printImpact says whose confidence moves, and which answers differ.
func printImpact(c *terminal.Console, i api.RebuildImpact, r api.RebuildReport) {
	printConfidence(c, i.Confidence, r.Changed["confidence"])
	c.Say("%s", sameHits(r.Overlap, r.Searches))
	a := i.Answers
	if len(a.Most) == 0 {
		return
	}
	c.Say("%s find other items, %s the same in another order, %s begin with another",
		terminal.Counted(int64(a.Others)), terminal.Counted(int64(a.Reordered)), terminal.Counted(int64(a.First)))
	rows := &terminal.Grid{Heads: []string{"BY THE TASK OF", "SAME", "HITS FROM THE FIRST THAT DIFFERS, BEFORE AND AFTER"}}
	for _, m := range a.Most {
		rows.Row(itemName(m.Tenant, m.ID), fmt.Sprintf("%.0f %%", 100*m.Same), terminal.Printable(hitsFrom(m.Before, m.After)+"\n"+hitsFrom(m.After, m.Before)))
	}
	c.Table(rows.Render(c.Width))
}

// percent is a share in whole hundredths: what is not all is never shown as 100.
func percent(share float64) float64 {
	const rounding = 1e-9
	return math.Floor(100*share + rounding)
}

func sameHits(overlap float64, searches int) string {
	return fmt.Sprintf("searches by the items' own tasks: %.0f %% of the first ten hits are the same, of %s",
		percent(overlap), terminal.Counted(int64(searches)))
}

// printConfidence says whose moves, of so many that differ: those that were forgotten are in no answer.
func printConfidence(c *terminal.Console, m api.ConfidenceImpact, differ int64) {
	if gone := differ - m.Raised - m.Lowered; gone > 0 {
		c.Say("%s forgotten or erased, and in no answer", terminal.Some(gone, "of those that differ in confidence is", "of those that differ in confidence are"))
	}
	if m.Raised+m.Lowered == 0 {
		c.Say("nobody's confidence moves, of %s items that can be answered with", terminal.Counted(m.Items))
		return
	}
	c.Say("the confidence of %s of %s items moves: %s up, %s down, by %.2f on average",
		terminal.Counted(m.Raised+m.Lowered), terminal.Counted(m.Items), terminal.Counted(m.Raised), terminal.Counted(m.Lowered), m.Mean)
	tenths := &terminal.Grid{Heads: []string{"CONFIDENCE", "BEFORE", "AFTER"}}
	for t := range min(len(m.Before), len(m.After)) {
		if m.Before[t] > 0 || m.After[t] > 0 {
			tenths.Row(fmt.Sprintf("%.1f to %.1f", float64(t)/10, float64(t+1)/10), terminal.Counted(m.Before[t]), terminal.Counted(m.After[t]))
		}
	}
	c.Table(tenths.Render(c.Width))
	rows := &terminal.Grid{Heads: []string{"MOVES MOST", "BEFORE", "AFTER", "VOICES"}}
	for _, move := range m.Most {
		voices := fmt.Sprintf("%d for, %d against", domain.Rating{Helpful: move.Helpful}.Others(), move.Harmful)
		if move.Reporters > 0 {
			voices += fmt.Sprintf(", stale to %d", move.Reporters)
		}
		rows.Row(itemName(move.Tenant, move.ID), fmt.Sprintf("%.3f", move.Before), fmt.Sprintf("%.3f", move.After), voices)
	}
	c.Table(rows.Render(c.Width))
}

// itemName says which item, and of which tenant unless it is the one that there is at first.
func itemName(tenant, id string) string {
	if tenant == "default" {
		return terminal.Printable(id)
	}
	return terminal.Printable(tenant + "/" + id)
}

// hitsFrom are as many ids as one reads, from the rank at which another answer has another one.
func hitsFrom(ids, other []string) string {
	const few = 4
	rank := 0
	for rank < min(len(ids), len(other)) && ids[rank] == other[rank] {
		rank++
	}
	text := strings.Join(ids[rank:min(len(ids), rank+few)], ", ")
	if len(ids) > rank+few {
		text += " …"
	}
	return terminal.Joined(". ", strconv.Itoa(rank+1), cmp.Or(text, "none"))
}
