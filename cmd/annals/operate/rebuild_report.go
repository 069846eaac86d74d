package operate

import (
	"cmp"
	"fmt"
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
	return r.Version == r.Active && r.Report != nil && r.Report.Repair && r.Report.Unintended > 0
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
	if r.Report != nil && len(r.Report.Wrong) == 0 && r.Report.Unintended > 0 {
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
	c.Say("checksum of all rows: %s", r.Checksum)
	for _, wrong := range r.Wrong {
		c.Say("%s %s", terminal.Red.Render("wrong"), wrong)
	}
	if r.Differing == 0 {
		c.Say("no item differs from version %d", r.Against)
		return
	}
	unintended := "not intended"
	if r.Repair {
		unintended = "repaired"
	}
	counts := terminal.NewTable("", "ITEMS")
	counts.Row(fmt.Sprintf("differ from version %d", r.Against), r.Differing)
	counts.Row(unintended, r.Unintended)
	c.Table(counts)
	rows := terminal.NewTable("ITEM", "BEFORE", "AFTER")
	for _, d := range r.Differences {
		shown := d.Columns()
		rows.Row(itemName(d.Tenant, d.ID), shown[0], shown[1])
	}
	c.Table(rows)
}

// columnName describes a column of a projection.
func columnName(column string) string {
	if column == "expired_confidence" {
		return "confidence once a confirmation has expired"
	}
	return strings.ReplaceAll(column, "_", " ")
}

// itemName names an item, with its tenant unless it is the default one.
func itemName(tenant, id string) string {
	if tenant == domain.DefaultTenant {
		return id
	}
	return tenant + "/" + id
}
