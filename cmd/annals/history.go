package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

type historyCommand struct {
	remote

	ID string `arg:"" help:"Which piece of knowledge."`
}

// Help implements kong.HelpProvider.
func (historyCommand) Help() string {
	return `What was forgotten keeps its history.

Example:

    annals history profile_001`
}

// Run implements the command.
func (h *historyCommand) Run(ctx context.Context, c *console) error {
	api, err := h.connect()
	if err != nil {
		return err
	}
	items, err := api.all(ctx, []string{"v1", "knowledge", h.ID, "history"}, url.Values{})
	if err != nil {
		return err
	}
	if c.json {
		return c.document(map[string]any{"items": items})
	}
	confidence := -1.0
	for _, raw := range items {
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		e.print(c, &confidence)
	}
	return nil
}

// event is an entry of the log; a history adds what it changed.
type event struct {
	Name       string          `json:"name"`
	Position   int64           `json:"position"`
	EventID    string          `json:"event_id"`
	Stream     string          `json:"stream"`
	RecordedAt time.Time       `json:"recorded_at"`
	OccurredAt time.Time       `json:"occurred_at"`
	Actor      string          `json:"actor"`
	OnBehalfOf string          `json:"on_behalf_of"`
	Reason     string          `json:"reason"`
	Text       json.RawMessage `json:"text"`
	Changes    []change        `json:"changes"`
	Confidence *float64        `json:"confidence"`
	Revision   int64           `json:"revision"`
}

type change struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

func (e event) who() string { return printable(joined(" for ", e.Actor, e.OnBehalfOf)) }

// what is the event's name without its kind: "knowledge.found_helpful" reads "found helpful".
func (e event) what() string {
	_, name, found := strings.Cut(e.Name, ".")
	if !found {
		name = e.Name
	}
	return printable(strings.ReplaceAll(name, "_", " "))
}

// print shows the event as a step of a timeline; confidence is what it was before, less than 0 if
// there was nothing, and is after.
func (e event) print(c *console, confidence *float64) {
	c.say("%s  %s  %s  %s", moment(e.RecordedAt), bold.Render(e.what()), e.who(), faint.Render(fmt.Sprintf("#%d", e.Position)))
	if !e.OccurredAt.IsZero() {
		c.say("    it happened %s", moment(e.OccurredAt))
	}
	if e.Reason != "" {
		c.say("%s", c.indented("why: "+e.Reason, "    "))
	}
	for _, said := range e.said() {
		c.say("%s", c.indented(said, "    "))
	}
	began := *confidence < 0
	widest := 0
	for _, change := range e.Changes {
		widest = max(widest, ansi.StringWidth(printable(change.Field)))
	}
	for _, change := range e.Changes {
		if began { // there was nothing before
			change.Before = nil
		}
		if change.Field != "eval.confidence" {
			c.say("    %s", change.line(widest, c.width-4))
		}
	}
	if e.Confidence != nil {
		if *e.Confidence != *confidence {
			c.say("    %s", bold.Render(fmt.Sprintf("confidence %.2f", *e.Confidence)))
		}
		*confidence = *e.Confidence
	}
}

// said is what a voter said: what for, and what came of it.
func (e event) said() []string {
	var vote struct{ Query, Outcome string }
	if json.Unmarshal(e.Text, &vote) != nil {
		return nil
	}
	var lines []string
	if vote.Query != "" {
		lines = append(lines, "used for: "+vote.Query)
	}
	if vote.Outcome != "" {
		lines = append(lines, "outcome: "+vote.Outcome)
	}
	return lines
}

// line shows a change as before → after, each side cut to what fits.
func (c change) line(widest, columns int) string {
	name := printable(c.Field)
	name += strings.Repeat(" ", widest-ansi.StringWidth(name))
	before, after := compact(c.Before), compact(c.After)
	rest := columns - widest - 2
	if before == "" {
		return faint.Render(name) + "  " + oneLine(after, rest)
	}
	if after == "" {
		after = "—"
	}
	side := (rest - 3) / 2
	return faint.Render(name) + "  " + oneLine(before, side) + " → " + oneLine(after, rest-3-min(side, ansi.StringWidth(before)))
}
