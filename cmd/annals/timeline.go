package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/api"
)

// timeline shows a history step by step.
type timeline struct {
	console    *console
	ids, diff  bool
	last       bool    // the step that is shown is the last one
	confidence float64 // before the step that is shown; less than 0 before the first
}

// show shows an event as a step.
func (t *timeline) show(e event) {
	c := t.console
	c.say("● %s  %s  %s  %s", moment(e.RecordedAt), bold.Render(e.what()), e.who(), faint.Render(fmt.Sprintf("#%d", e.Position)))
	if e.OccurredAt != nil {
		t.line("it happened " + moment(*e.OccurredAt))
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
		t.line(faint.Render("its text was erased"))
	}
	if e.TextRedacted {
		t.line(faint.Render("something in it was redacted later"))
	}
	t.changes(e)
	if e.Confidence != nil {
		if *e.Confidence != t.confidence {
			t.line(bold.Render(fmt.Sprintf("confidence %.2f", *e.Confidence)))
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
func (t *timeline) changes(e event) {
	widest := 0
	for _, change := range e.Changes {
		widest = max(widest, ansi.StringWidth(printable(change.Field)))
	}
	for _, change := range e.Changes {
		began := t.confidence < 0
		if began { // there was nothing before
			change.Before = nil
		}
		switch {
		case change.Field == "eval.confidence":
		case t.diff && !began && len(change.Diff) > 0:
			t.line(faint.Render(printable(change.Field)))
			t.text(t.marked(change.Diff))
		default:
			t.line(changeLine(change, widest, t.console.width-margin))
		}
	}
}

// marked is a difference on one colour for what went and another for what came, or between marks where
// there are no colours.
func (t *timeline) marked(edits []api.FieldChange) string {
	var all strings.Builder
	for _, e := range edits {
		said := printable(e.Text)
		switch {
		case e.Op == "same":
			all.WriteString(said)
		case e.Op == "removed" && t.console.coloured():
			all.WriteString(eachLine(said, func(line string) string { return red.Strikethrough(true).Render(line) }))
		case e.Op == "removed":
			all.WriteString("[-" + said + "-]")
		case t.console.coloured():
			all.WriteString(eachLine(said, func(line string) string { return green.Render(line) }))
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
func (t *timeline) envelope(e event) {
	facts := [][2]string{
		{"authenticated", e.Authentication},
		{"event", e.EventID},
		{"request", e.RequestID},
		{"trace", e.Traceparent},
		{"belongs to", e.CorrelationID},
	}
	for _, fact := range facts {
		if fact[1] != "" {
			t.line(faint.Render(fmt.Sprintf("%-13s  %s", fact[0], printable(fact[1]))))
		}
	}
}

// margin is how many columns stand before what is said about a step.
const margin = 4

func (t *timeline) bar() string {
	if t.last {
		return "    "
	}
	return faint.Render("│") + "   "
}

func (t *timeline) line(said string) { t.console.table(t.bar() + said) }

// text wraps what people wrote.
func (t *timeline) text(said string) {
	for _, line := range wrapped(said, t.console.width-margin) {
		t.line(line)
	}
}

// describedCause says what a cause was, as far as anybody may know.
func describedCause(c api.Cause) string {
	if c.Name == "" {
		return printable(c.ID)
	}
	return fmt.Sprintf("%s %s, %s #%d", printable(c.Stream), happened(c.Name), printable(joined(" for ", c.Actor, c.OnBehalfOf)), c.Position)
}

// changeLine shows a change as before → after, of objects the keys that differ, each side cut to what fits around what differs.
func changeLine(c api.Change, widest, columns int) string {
	name := printable(c.Field)
	name += strings.Repeat(" ", widest-ansi.StringWidth(name))
	was, is := c.Before, c.After
	rest := columns - widest - 2
	if shownSide(c.Field, was) == "" {
		return faint.Render(name) + "  " + oneLine(cmp.Or(shownSide(c.Field, is), "—"), rest)
	}
	was, is = differing(was, is)
	before, after := cmp.Or(shownSide(c.Field, was), "—"), cmp.Or(shownSide(c.Field, is), "—")
	if _, isObject := was.(map[string]any); isObject && before == after { // as people write them, and not as JSON has them
		before, after = literal(was), literal(is)
	}
	side := (rest - 3) / 2
	before, after = fromDifference(before, after, side)
	return faint.Render(name) + "  " + oneLine(before, side) + " → " + oneLine(after, rest-3-min(side, ansi.StringWidth(before)))
}

// shownSide is one side of a change: a time as all times are printed.
func shownSide(field string, side any) string {
	switch field {
	case "confirmed_at", "confirm_until":
		return timed(plain(side))
	}
	return plain(side)
}

// fromDifference leaves out how two texts both begin, where they would be cut to so many columns before they differ.
func fromDifference(before, after string, columns int) (string, string) {
	was, is := []rune(oneLine(before, math.MaxInt)), []rune(oneLine(after, math.MaxInt))
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
