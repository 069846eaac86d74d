package operate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// rebuild is the newest rebuild of a projection.
type rebuild struct{ api.Rebuild }

// name is the name of the version, with a note if it is a what-if.
func (r rebuild) name() string {
	if r.WhatIf {
		return fmt.Sprintf("the what-if of %s (version %d)", r.Projection, r.Version)
	}
	return fmt.Sprintf("version %d of %s", r.Version, r.Projection)
}

// whatIfEnded tells whether it is a finished what-if with a report.
func (r rebuild) whatIfEnded() bool { return r.WhatIf && r.State == "retired" && r.Report != nil }

// repaired tells whether this version replaced a wrong one.
func (r rebuild) repaired() bool {
	return r.Version == r.Active && r.Report != nil && r.Report.Repair && changedUnasked(*r.Report)
}

// changedUnasked tells whether the versions differ in something that the change does not intend.
func changedUnasked(r api.RebuildReport) bool {
	for column := range r.Changed {
		if !slices.Contains(r.Intended, column) {
			return true
		}
	}
	return false
}

func (r rebuild) whyFailed() string {
	return fmt.Sprintf("version %d of %s was given up: %s; version %d stays active",
		r.Version, r.Projection, cmp.Or(r.Error, "the reason is unknown"), r.Active)
}

// verdict is the error of a failed rebuild.
func (r rebuild) verdict() error {
	if r.State != "failed" {
		return nil
	}
	fix := "see above and the server's log, then: annals rebuild " + r.Projection
	if r.Report != nil && len(r.Report.Wrong) == 0 && changedUnasked(*r.Report) {
		fix = fmt.Sprintf("the new version is what the log says, and version %d is not: annals rebuild %s --repair "+
			"switches all the same",
			r.Active, r.Projection)
	}
	return &terminal.Failure{Code: terminal.ExitFailed, Detail: r.whyFailed(), Fix: fix}
}

// print shows the progress or the result of a rebuild. It returns the error of a failed one.
func (r rebuild) print(c *terminal.Console) error {
	if r.Progress != nil {
		c.Say("%s: %s", r.name(), progressOf(*r.Progress))
		return nil
	}
	if r.Report != nil {
		printReport(c, *r.Report)
		if i := r.Report.Impact; r.WhatIf || len(i.Confidence.Most)+len(i.Answers.Most) > 0 {
			printImpact(c, *r.Report)
		}
	}
	switch {
	case r.whatIfEnded() && r.Report.Passed:
		c.Say("%s was thrown away, as it was meant to be: version %d is active, as before", r.name(), r.Active)
	case r.whatIfEnded():
		return &terminal.Failure{
			Code: terminal.ExitFailed,
			Detail: fmt.Sprintf("%s would not pass its verification, and was thrown away; version %d is active, as before",
				r.name(), r.Active),
			Fix: "see above; nothing would be switched to",
		}
	case r.State == "active":
		c.Say("%s is active since %s", r.name(), r.UpdatedAt)
	case r.State == "standby":
		c.Say("%s was rolled back: version %d is active", r.name(), r.Active)
	case r.State == "retired":
		c.Say("%s was given up: version %d is active", r.name(), r.Active)
	}
	return r.verdict()
}

// printReport shows what was verified and found.
func printReport(c *terminal.Console, r api.RebuildReport) {
	if r.Passed {
		c.Say("%s: %s items, every row as an independent fold of the log gives it",
			terminal.Green.Render("verified"), humanize.Comma(r.Items))
	} else {
		c.Say("%s: %s items", terminal.Red.Render("not verified"), humanize.Comma(r.Items))
	}
	rows := terminal.NewTable("TABLE", "ROWS", "CHECKSUM")
	for _, table := range slices.Sorted(maps.Keys(r.Rows)) {
		rows.Row(table, r.Rows[table], r.Checksums[table])
	}
	c.Table(rows)
	for _, wrong := range r.Wrong {
		c.Say("%s %s", terminal.Red.Render("wrong"), wrong)
	}
	if len(r.Changed) == 0 {
		c.Say("no item differs from version %d", r.Against)
		return
	}
	c.Say("compared with version %d:", r.Against)
	changes := terminal.NewTable("CHANGED", "ITEMS", "")
	for _, column := range slices.Sorted(maps.Keys(r.Changed)) {
		intention := terminal.Red.Render("not intended")
		switch {
		case slices.Contains(r.Intended, column):
			intention = terminal.Green.Render("intended")
		case r.Repair:
			intention = terminal.Amber.Render("repaired")
		}
		changes.Row(columnName(column), r.Changed[column], intention)
	}
	c.Table(changes)
}

// columnName describes a column of a projection.
func columnName(column string) string {
	if column == "expired_confidence" {
		return "confidence once a confirmation has expired"
	}
	return strings.ReplaceAll(column, "_", " ")
}

// printImpact shows the changed confidences and answers.
func printImpact(c *terminal.Console, r api.RebuildReport) {
	printConfidence(c, r.Impact.Confidence, r.Changed["confidence"])
	c.Say("searches by the items' own tasks: %.0f %% of the first ten hits are the same, of %d", percent(r.Overlap),
		r.Searches)
	a := r.Impact.Answers
	if len(a.Most) == 0 {
		return
	}
	sums := terminal.NewTable("", "")
	sums.Row("other items", a.Others)
	sums.Row("another order", a.Reordered)
	sums.Row("another first hit", a.First)
	c.Table(sums)
	c.Note("--json has the hits that differ")
}

// percent is a share in whole percent, rounded down: 100 means all.
func percent(share float64) float64 {
	const rounding = 1e-9
	return math.Floor(100*share + rounding)
}

// printConfidence shows the changed confidences among those that differ. Forgotten items are in no answer.
func printConfidence(c *terminal.Console, m api.ConfidenceImpact, differ int64) {
	sums := terminal.NewTable("", "")
	sums.Row("items in answers", m.Items)
	sums.Row("confidence raised", m.Raised)
	sums.Row("confidence lowered", m.Lowered)
	if gone := differ - m.Raised - m.Lowered; gone > 0 {
		sums.Row("forgotten or erased", humanize.Comma(gone)+", in no answer")
	}
	if m.Raised+m.Lowered > 0 {
		sums.Row("moved on average by", fmt.Sprintf("%.2f", m.Mean))
	}
	c.Table(sums)
	if m.Raised+m.Lowered == 0 {
		return
	}
	rows := terminal.NewTable("MOVES MOST", "BEFORE", "AFTER", "VOTES")
	for _, move := range m.Most {
		votes := fmt.Sprintf("%d for, %d against", domain.Rating{Helpful: move.Helpful}.Others(), move.Harmful)
		if move.Reporters > 0 {
			votes += fmt.Sprintf(", stale to %d", move.Reporters)
		}
		rows.Row(itemName(move.Tenant, move.ID), fmt.Sprintf("%.3f", move.Before), fmt.Sprintf("%.3f", move.After), votes)
	}
	c.Table(rows)
}

// itemName names an item, with its tenant unless it is the default one.
func itemName(tenant, id string) string {
	if tenant == domain.DefaultTenant {
		return id
	}
	return tenant + "/" + id
}
