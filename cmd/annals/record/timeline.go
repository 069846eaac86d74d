package record

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// timeline shows a history step by step.
type timeline struct {
	console    *terminal.Console
	ids, diff  bool
	last       bool    // the step that is shown is the last one
	confidence float64 // before the step that is shown; less than 0 before the first
}

// show shows an event as a step.
func (t *timeline) show(e Event) {
	c := t.console
	c.Say("● %s  %s  %s  %s", terminal.Moment(e.RecordedAt), terminal.Bold.Render(e.What()), e.Who(), terminal.Faint.Render(fmt.Sprintf("#%d", e.Position)))
	if e.OccurredAt != nil {
		t.line("it happened " + terminal.Moment(*e.OccurredAt))
	}
	if why := e.why(); why != "" {
		t.text("why: " + why)
	}
	if basis := e.grounds().LegalBasis; basis != "" {
		t.text("legal basis: " + basis)
	}
	if by := e.grounds().RequestedBy; by != "" {
		t.text("requested by: " + by)
	}
	for _, said := range e.said() {
		t.text(said)
	}
	if e.TextErased {
		t.line(terminal.Faint.Render("its text was erased"))
	}
	if e.TextRedacted {
		t.line(terminal.Faint.Render("something in it was redacted later"))
	}
	t.changes(e)
	if e.Confidence != nil {
		if *e.Confidence != t.confidence {
			t.line(terminal.Bold.Render(fmt.Sprintf("confidence %.2f", *e.Confidence)))
		}
		t.confidence = *e.Confidence
	}
	for _, cause := range e.CausedBy {
		t.text("caused by " + describedCause(cause))
	}
	if t.ids {
		t.envelope(e)
	}
}

// changes shows every field that changed, but the confidence, which has a line of its own.
func (t *timeline) changes(e Event) {
	widest := 0
	for _, change := range e.Changes {
		widest = max(widest, ansi.StringWidth(terminal.Printable(change.Field)))
	}
	for _, change := range e.Changes {
		began := t.confidence < 0
		if began { // there was nothing before
			change.Before = nil
		}
		switch {
		case change.Field == "eval.confidence":
		case t.diff && !began && len(change.Diff) > 0:
			t.line(terminal.Faint.Render(terminal.Printable(change.Field)))
			t.text(t.marked(change.Diff))
		default:
			t.line(changeLine(change, widest, t.console.Width-margin))
		}
	}
}

// marked is a difference on one colour for what went and another for what came, or between marks where
// there are no colours.
func (t *timeline) marked(edits []api.FieldChange) string {
	var all strings.Builder
	for _, e := range edits {
		said := terminal.Printable(e.Text)
		switch {
		case e.Op == "same":
			all.WriteString(said)
		case e.Op == "removed" && t.console.Coloured():
			all.WriteString(eachLine(said, func(line string) string { return terminal.Red.Strikethrough(true).Render(line) }))
		case e.Op == "removed":
			all.WriteString("[-" + said + "-]")
		case t.console.Coloured():
			all.WriteString(eachLine(said, func(line string) string { return terminal.Green.Render(line) }))
		default:
			all.WriteString("{+" + said + "+}")
		}
	}
	return all.String()
}

// eachLine renders lines by themselves: a style would fill them up to one width.
func eachLine(said string, render func(string) string) string {
	lines := strings.Split(said, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = render(line)
		}
	}
	return strings.Join(lines, "\n")
}

// envelope shows how we know who it was, and what it belongs to.
func (t *timeline) envelope(e Event) {
	facts := [][2]string{
		{"authenticated", e.Authentication},
		{"event", e.EventID},
		{"request", e.RequestID},
		{"trace", e.Traceparent},
		{"belongs to", e.CorrelationID},
	}
	for _, fact := range facts {
		if fact[1] != "" {
			t.line(terminal.Faint.Render(fmt.Sprintf("%-13s  %s", fact[0], terminal.Printable(fact[1]))))
		}
	}
}

// margin is how many columns stand before what is said about a step.
const margin = 4

func (t *timeline) bar() string {
	if t.last {
		return "    "
	}
	return terminal.Faint.Render("│") + "   "
}

func (t *timeline) line(said string) { t.console.Table(t.bar() + said) }

// text wraps what people wrote.
func (t *timeline) text(said string) {
	for _, line := range terminal.Wrapped(said, t.console.Width-margin) {
		t.line(line)
	}
}

// describedCause says what a cause was, as far as anybody may know.
func describedCause(c api.Cause) string {
	if c.Name == "" {
		return terminal.Printable(c.ID)
	}
	return fmt.Sprintf("%s %s, %s #%d", terminal.Printable(c.Stream), happened(c.Name), terminal.Printable(terminal.Joined(" for ", c.Actor, c.OnBehalfOf)), c.Position)
}

// changeLine shows a change as before → after, of objects the keys that differ, each side cut to what fits around what differs.
func changeLine(c api.Change, widest, columns int) string {
	name := terminal.Printable(c.Field)
	name += strings.Repeat(" ", widest-ansi.StringWidth(name))
	was, is := c.Before, c.After
	rest := columns - widest - 2
	if shownSide(c.Field, was) == "" {
		return terminal.Faint.Render(name) + "  " + terminal.OneLine(cmp.Or(shownSide(c.Field, is), "—"), rest)
	}
	was, is = terminal.Differing(was, is)
	before, after := cmp.Or(shownSide(c.Field, was), "—"), cmp.Or(shownSide(c.Field, is), "—")
	if _, isObject := was.(map[string]any); isObject && before == after { // as people write them, and not as JSON has them
		before, after = terminal.Literal(was), terminal.Literal(is)
	}
	side := (rest - 3) / 2
	before, after = fromDifference(before, after, side)
	return terminal.Faint.Render(name) + "  " + terminal.OneLine(before, side) + " → " + terminal.OneLine(after, rest-3-min(side, ansi.StringWidth(before)))
}

// shownSide is one side of a change: a time as all times are printed.
func shownSide(field string, side any) string {
	switch field {
	case "confirmed_at", "confirm_until":
		return terminal.Timed(terminal.Plain(side))
	}
	return terminal.Plain(side)
}

// fromDifference leaves out how two texts both begin, where they would be cut to so many columns before they differ.
func fromDifference(before, after string, columns int) (string, string) {
	was, is := []rune(terminal.OneLine(before, math.MaxInt)), []rune(terminal.OneLine(after, math.MaxInt))
	begin := 0
	for begin < min(len(was), len(is)) && was[begin] == is[begin] {
		begin++
	}
	fits := max(ansi.StringWidth(string(was)), ansi.StringWidth(string(is))) <= columns
	if fits || ansi.StringWidth(string(was[:begin])) <= columns/2 {
		return before, after
	}
	for lead := 0; begin > 0; begin-- {
		if lead += ansi.StringWidth(string(was[begin-1])); lead > columns/3 {
			break
		}
	}
	return "…" + string(was[begin:]), "…" + string(is[begin:])
}
