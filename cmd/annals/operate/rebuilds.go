package operate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// Rebuild is the newest rebuild as the commands show it.
type Rebuild struct{ api.Rebuild }

// rebuildProgress is how far it has come.
type rebuildProgress api.RebuildProgress

// rebuildReport is what its verification found.
type rebuildReport api.RebuildReport

// RebuildPlan is what it would take.
type RebuildPlan struct{ api.RebuildPlan }

// doing is what a phase does, for people.
func (p rebuildProgress) doing() string {
	switch p.Phase {
	case "indexing":
		return "building indexes"
	case "building":
		return "loading"
	case "catching_up":
		return "catching up"
	case "ready":
		return "switching"
	}
	return p.Phase
}

// String is a line about how far it has come.
func (p rebuildProgress) String() string {
	var parts []string
	switch p.doing() {
	case "loading":
		if p.Total == 0 {
			break // they are being counted
		}
		parts = append(parts, fmt.Sprintf("%s of %s items", terminal.Counted(p.Streams), terminal.Counted(p.Total)))
	case "verifying":
		if p.Verified == 0 { // it begins, or another process is at it, which knows
			parts = append(parts, terminal.Counted(p.Total)+" items")
			break
		}
		parts = append(parts, fmt.Sprintf("%s of %s items", terminal.Counted(p.Verified), terminal.Counted(max(p.Total, p.Verified))))
	case "catching up":
		if p.Behind > 0 {
			parts = append(parts, terminal.Several(int(p.Behind), "event")+" behind")
		}
	}
	if p.Rate > 0 {
		parts = append(parts, terminal.Counted(int64(p.Rate))+" a second")
	}
	if p.SecondsLeft >= 1 {
		parts = append(parts, "about "+terminal.Lasting(p.SecondsLeft)+" left")
	}
	return terminal.Joined(": ", p.doing(), strings.Join(parts, " · "))
}

// print shows what became of it, or how far it has come. It fails if the rebuild did.
func (r Rebuild) print(c *terminal.Console) error {
	switch {
	case r.Progress != nil:
		c.Say("%s: %s", r.name(), rebuildProgress(*r.Progress))
		return nil
	case r.Report != nil:
		rebuildReport(*r.Report).print(c)
		if r.WhatIf || changesAnything(r.Report.Impact) {
			printImpact(c, r.Report.Impact, *r.Report)
		}
	}
	switch {
	case r.seen() && r.Report.Passed:
		c.Say("%s was thrown away, as it was meant to be: version %d is active, as before", r.name(), r.Active)
		return nil
	case r.seen():
		return &terminal.Failure{
			Code:   terminal.ExitFailed,
			Detail: fmt.Sprintf("%s would not pass its verification, and was thrown away; version %d is active, as before", r.name(), r.Active),
			Fix:    "see above; nothing would be switched to",
		}
	}
	switch r.State {
	case "active":
		c.Say("version %d of %s is active since %s", r.Version, r.Projection, terminal.MomentOf(r.UpdatedAt))
	case "draining":
		c.Say("version %d of %s was rolled back: version %d is active", r.Version, r.Projection, r.Active)
	case "retired":
		c.Say("%s was given up: version %d is active", r.name(), r.Active)
	}
	return r.verdict()
}

// name says which version it is, and that it is only a what-if.
func (r Rebuild) name() string {
	if r.WhatIf {
		return fmt.Sprintf("the what-if of %s (version %d)", r.Projection, r.Version)
	}
	return fmt.Sprintf("version %d of %s", r.Version, r.Projection)
}

// seen tells whether it was a what-if that has shown what it should.
func (r Rebuild) seen() bool { return r.WhatIf && r.State == "retired" && r.Report != nil }

// verdict is nil unless the rebuild failed.
func (r Rebuild) verdict() error {
	if r.State != "failed" {
		return nil
	}
	why := r.Error
	if why == "" {
		why = "nobody knows why"
	}
	return &terminal.Failure{
		Code:   terminal.ExitFailed,
		Detail: fmt.Sprintf("version %d of %s was given up: %s; version %d stays active", r.Version, r.Projection, why, r.Active),
		Fix:    r.fix(),
	}
}

// wayBack says how to undo the switch to this version, if it is to be undone.
func (r Rebuild) wayBack() string {
	if r.repaired() {
		return fmt.Sprintf("there is no way back to version %d, which was wrong: it is dropped within a minute", r.Report.Against)
	}
	return fmt.Sprintf("go back with: annals rebuild %s --rollback; the version before is kept until the next rebuild, or --retire", r.Projection)
}

// repaired tells whether this version is read now in place of one that was found to be wrong.
func (r Rebuild) repaired() bool {
	return r.Version == r.Active && r.Report != nil && r.Report.Repair && rebuildReport(*r.Report).changedUnasked()
}

// fix is what to do when a version was given up.
func (r Rebuild) fix() string {
	if r.Report != nil && len(r.Report.Wrong) == 0 && rebuildReport(*r.Report).changedUnasked() {
		return fmt.Sprintf("the new version is what the log says, and version %d is not: annals rebuild %s --repair switches all the same", r.Active, r.Projection)
	}
	return "see above and the server's log, then: annals rebuild " + r.Projection
}

// changedUnasked tells whether something differs that the change does not mean to change.
func (r rebuildReport) changedUnasked() bool {
	for column := range r.Changed {
		if !slices.Contains(r.Intended, column) {
			return true
		}
	}
	return false
}

// print shows what was verified, and what was found.
func (r rebuildReport) print(c *terminal.Console) {
	if r.Passed {
		c.Say("%s: %s items, every row as an independent fold of the log gives it", terminal.Green.Render("verified"), terminal.Counted(r.Items))
	} else {
		c.Say("%s: %s items", terminal.Red.Render("not verified"), terminal.Counted(r.Items))
	}
	rows := &terminal.Grid{Heads: []string{"TABLE", "ROWS", "CHECKSUM"}}
	for _, table := range slices.Sorted(maps.Keys(r.Rows)) {
		rows.Row(table, terminal.Counted(r.Rows[table]), r.Checksums[table])
	}
	c.Table(rows.Render(c.Width))
	for _, wrong := range r.Wrong {
		c.Say("%s %s", terminal.Red.Render("wrong"), terminal.Printable(wrong))
	}
	if len(r.Changed) == 0 {
		c.Say("no item differs from version %d", r.Against)
		return
	}
	changes := &terminal.Grid{Heads: []string{"CHANGED", "ITEMS", ""}}
	for _, column := range slices.Sorted(maps.Keys(r.Changed)) {
		meant := terminal.Red.Render("not intended")
		switch {
		case slices.Contains(r.Intended, column):
			meant = terminal.Green.Render("intended")
		case r.Repair:
			meant = terminal.Amber.Render("repaired")
		}
		changes.Row(computed(column), terminal.Counted(r.Changed[column]), meant)
	}
	c.Say("compared with version %d:\n%s", r.Against, changes.Render(c.Width))
}

// computed is what a column of a projection holds, for people.
func computed(column string) string {
	if column == "expired_confidence" {
		return "confidence once a confirmation has expired"
	}
	return strings.ReplaceAll(column, "_", " ")
}

// Versions are versions of projections, the active one of each first.
type Versions struct {
	Items []VersionOf
	Raw   []json.RawMessage
}

type VersionOf = api.Projection

// UnmarshalJSON keeps each version as it came, too.
func (v *Versions) UnmarshalJSON(data []byte) error {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	v.Raw, v.Items = list.Items, make([]VersionOf, len(list.Items))
	for i, raw := range list.Items {
		if err := json.Unmarshal(raw, &v.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// of are the versions of one projection.
func (v Versions) of(name string) Versions {
	found := Versions{Raw: []json.RawMessage{}}
	for i, item := range v.Items {
		if item.Name == name {
			found.Items, found.Raw = append(found.Items, item), append(found.Raw, v.Raw[i])
		}
	}
	return found
}

// inUse are the version that is read, and the one that a rollback leads to; 0 if there is none.
func (v Versions) inUse() (active, kept int) {
	var since time.Time
	for _, item := range v.Items {
		switch {
		case item.State == "active":
			active = item.Version
		case item.State == "draining" && terminal.OrZero(item.UpdatedAt).After(since): // an older one is about to be retired
			kept, since = item.Version, terminal.OrZero(item.UpdatedAt)
		}
	}
	return active, kept
}

// Switched says what a rollback has done.
func (v Versions) Switched() string {
	active, kept := v.inUse()
	return fmt.Sprintf("version %d is active again; version %d is still written", active, kept)
}

// left says what there is when the version before was given up.
func (v Versions) left() string {
	active, _ := v.inUse()
	return fmt.Sprintf("the version before is given up; version %d is active, as before", active)
}

// wayBack says how to undo the rollback that led to these versions: forward to a newer one, or back to an older one.
func (v Versions) wayBack() string {
	active, kept := v.inUse()
	which := "roll forward"
	if kept < active {
		which = "go back"
	}
	return which + " again with: annals rebuild knowledge --rollback"
}

func (v Versions) Render(width int) string {
	rows := &terminal.Grid{Heads: []string{"VERSION", "STATE", "SINCE", "COMPUTED WITH"}}
	_, kept := v.inUse()
	for _, item := range v.Items {
		var settings []string
		for _, name := range slices.Sorted(maps.Keys(item.Settings)) {
			settings = append(settings, name+" "+item.Settings[name])
		}
		state := item.State
		switch {
		case item.WhatIf:
			state += " (what-if)"
		case state == "draining" && item.Version == kept:
			state += " (still written, for --rollback)"
		case state == "draining":
			state += " (still written for a moment)"
		}
		rows.Row(strconv.Itoa(item.Version), state, terminal.MomentOf(item.UpdatedAt),
			terminal.Printable(terminal.Joined("\n", strings.Join(settings, " · "), item.Error)))
	}
	return rows.Render(width)
}
