package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
)

// timeline shows a history step by step.
type timeline struct {
	console    *terminal.Console
	ids, diff  bool
	traces     string  // the address of a trace, with {trace_id}
	last       bool    // the step that is shown is the last one
	confidence float64 // before the current step; negative before the first
}

// show shows an event as a step.
func (t *timeline) show(e Event) {
	position := terminal.Faint.Render(fmt.Sprintf("#%d", e.Position))
	t.console.Say("● %s  %s  %s  %s", e.RecordedAt, terminal.Bold.Render(e.What()), e.Who(), position)
	if e.OccurredAt != nil {
		t.text("it happened", terminal.Text(e.OccurredAt))
	}
	var merge struct {
		Items            []string
		Hidden           int `json:"hidden_items"`
		Helpful, Harmful int
	}
	if json.Unmarshal(e.Data, &merge) == nil && len(merge.Items)+merge.Hidden > 0 {
		if merge.Hidden > 0 {
			merge.Items = append(merge.Items, terminal.Several(merge.Hidden, "item")+" that you may not see")
		}
		t.text("with:", strings.Join(merge.Items, ", "))
		if merge.Helpful+merge.Harmful > 0 {
			t.text("carried votes:", fmt.Sprintf("%d helpful, %d harmful", merge.Helpful, merge.Harmful))
		}
	}
	t.text("why:", e.why())
	t.text("legal basis:", e.grounds().LegalBasis)
	t.text("requested by:", e.grounds().RequestedBy)
	var vote struct{ Query, Outcome string }
	if json.Unmarshal(e.Text, &vote) == nil {
		t.text("used for:", vote.Query)
		t.text("outcome:", vote.Outcome)
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
		t.text("caused by", describedCause(cause))
	}
	if t.ids {
		t.envelope(e)
	}
}

// changes shows every changed field, except the confidence, which has its own line.
func (t *timeline) changes(e Event) {
	widest := 0
	for _, change := range e.Changes {
		widest = max(widest, ansi.StringWidth(terminal.Printable(change.Field)))
	}
	for _, change := range e.Changes {
		began := t.confidence < 0
		if began { // there was no earlier value
			change.Before = nil
		}
		switch {
		case change.Field == "eval.confidence":
		case t.diff && !began && len(change.Diff) > 0:
			t.line(terminal.Faint.Render(change.Field))
			t.wrapped(string(t.marked(change.Diff)))
		default:
			t.line(changeLine(change, widest, t.console.Width-margin))
		}
	}
}

// marked shows a difference in two colours, or between marks if there are no colours.
func (t *timeline) marked(edits []api.FieldChange) (all terminal.Markup) {
	for _, e := range edits {
		switch {
		case e.Op == "same":
			all += terminal.Markupf("%s", e.Text)
		case e.Op == "removed" && t.console.Coloured():
			all += terminal.Struck.Render(e.Text)
		case e.Op == "removed":
			all += terminal.Markupf("[-%s-]", e.Text)
		case t.console.Coloured():
			all += terminal.Green.Render(e.Text)
		default:
			all += terminal.Markupf("{+%s+}", e.Text)
		}
	}
	return all
}

// envelope shows how the caller was authenticated, and the ids of the event.
func (t *timeline) envelope(e Event) {
	facts := [][2]string{
		{"authenticated", e.Authentication},
		{"event", e.EventID},
		{"request", e.RequestID},
		{"trace", cmp.Or(e.TraceAt(t.traces), e.Traceparent)},
		{"belongs to", e.CorrelationID},
	}
	for _, fact := range facts {
		if fact[1] != "" {
			t.line(terminal.Faint.Render(fmt.Sprintf("%-13s  %s", fact[0], fact[1])))
		}
	}
}

// margin is the number of columns before the details of a step.
const margin = 4

func (t *timeline) line(text terminal.Markup) {
	bar := terminal.Faint.Render("│") + "   "
	if t.last {
		bar = "    "
	}
	t.console.Lines(string(bar + text))
}

// text shows a named text, unless it is empty.
func (t *timeline) text(name, value string) {
	if value != "" {
		t.wrapped(terminal.Printable(name + " " + value))
	}
}

func (t *timeline) wrapped(text string) {
	for _, line := range terminal.Wrapped(text, t.console.Width-margin) {
		t.line(terminal.Markup(line))
	}
}

// describedCause describes a cause, if the caller may see it.
func describedCause(c api.Cause) string {
	if c.Name == "" {
		return c.ID
	}
	who := terminal.Joined(" for ", c.Actor, c.OnBehalfOf)
	return fmt.Sprintf("%s %s, %s #%d", c.Stream, happened(c.Name), who, c.Position)
}

// changeLine shows a change as before → after; for objects, the keys that differ. It cuts each side around the
// difference.
func changeLine(c api.Change, widest, columns int) terminal.Markup {
	name := terminal.Faint.Render(terminal.Padded(terminal.Printable(c.Field), widest)) + "  "
	was, is := c.Before, c.After
	rest := columns - widest - 2
	if shownSide(c.Field, was) == "" {
		return name + terminal.Markup(terminal.OneLine(cmp.Or(shownSide(c.Field, is), "—"), rest))
	}
	was, is = terminal.Differing(was, is)
	before, after := cmp.Or(shownSide(c.Field, was), "—"), cmp.Or(shownSide(c.Field, is), "—")
	if _, isObject := was.(map[string]any); isObject && before == after { // in the form for people, not as JSON
		before, after = terminal.Literal(was), terminal.Literal(is)
	}
	side := (rest - 3) / 2
	before, after = fromDifference(before, after, side)
	after = terminal.OneLine(after, rest-3-min(side, ansi.StringWidth(before)))
	return name + terminal.Markup(terminal.OneLine(before, side)+" → "+after)
}

// shownSide formats one side of a change; a time has the common form.
func shownSide(field string, side any) string {
	switch field {
	case "confirmed_at", "confirm_until":
		return terminal.Timed(terminal.Plain(side))
	}
	return terminal.Plain(side)
}

// fromDifference drops the common beginning of two texts if cutting them would hide the difference.
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
