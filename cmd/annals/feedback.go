package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

type feedbackCommand struct {
	changing

	Verdict string `arg:"" optional:"" complete:"verdicts" help:"helpful or harmful."`
	Retract bool   `help:"Take the vote back."`
	Query   string `short:"q" placeholder:"TEXT" help:"What the knowledge was used for."`
	Outcome string `short:"o" placeholder:"TEXT" help:"What came of it."`
	Trace   string `field:"trace_id" placeholder:"ID" help:"The trace of the run: one voice per trace, without one per day."`
	Event   string `field:"event_id" placeholder:"ID" help:"With --retract: the vote's event, instead of its trace."`
}

// Help implements kong.HelpProvider.
func (feedbackCommand) Help() string {
	return `One voice per voter and trace, without a trace one per day (UTC); another voice there replaces the first.

Examples:

    annals feedback retry-advice helpful --query "sync contacts" --outcome "no more 429s" --trace run-42
    annals feedback retry-advice harmful --as agent:crawler --on-behalf-of user:123
    annals feedback retry-advice --retract --trace run-42`
}

// Validate implements kong.Validatable.
func (f *feedbackCommand) Validate() error {
	switch {
	case f.Retract && f.Verdict != "":
		return wrong("", "a vote is either given or taken back: leave out %s or --retract", f.Verdict)
	case !f.Retract && f.Verdict == "":
		return wrong("", "say helpful or harmful, or --retract")
	case !f.Retract && f.Event != "":
		return wrong("", "--event belongs to --retract")
	}
	return nil
}

// Run implements the command.
func (f *feedbackCommand) Run(ctx context.Context, c *console) error {
	if f.Retract {
		query := url.Values{}
		put(query, "event_id", f.Event)
		put(query, "trace_id", f.Trace)
		return f.change(ctx, c, request{Method: http.MethodDelete, Path: []string{"feedback"}, Query: query}, "took the vote back on")
	}
	api, a, err := f.submit(ctx, request{Method: http.MethodPost, Path: []string{"feedback"}, Body: feedbackBody{
		Verdict: f.Verdict, Query: f.Query, TraceID: f.Trace, Outcome: f.Outcome,
	}})
	if err != nil {
		return err
	}
	if err := f.print(c, a, "found "+f.Verdict+":"); err != nil || c.json {
		return err
	}
	switch {
	case !replaced(ctx, api, a):
	case f.Trace == "":
		c.note("this replaces the voter's earlier vote of today; with --trace ID each run has a vote of its own")
	default:
		c.note("this replaces the voter's earlier vote on the trace %s", printable(f.Trace))
	}
	return nil
}

// replaced tells whether a vote took the place of an earlier one, which its event says. Whoever may not read that is
// not told.
func replaced(ctx context.Context, api *client, a *answer) bool {
	id, rest, _ := strings.Cut(a.Header.Get("Annals-Receipt"), " ")
	place, _, _ := strings.Cut(rest, " ")
	position, err := strconv.ParseInt(place, 10, 64)
	if err != nil { // nothing was recorded
		return false
	}
	var page struct {
		Items []struct {
			EventID string `json:"event_id"`
			Data    struct {
				Replaces string `json:"replaces"`
			} `json:"data"`
		} `json:"items"`
	}
	query := url.Values{"after": {strconv.FormatInt(position-1, 10)}, "limit": {"1"}}
	_, err = api.read(ctx, request{Method: http.MethodGet, Path: []string{"v1", "events"}, Query: query}, &page)
	return err == nil && len(page.Items) == 1 && page.Items[0].EventID == id && page.Items[0].Data.Replaces != ""
}

type feedbackBody struct {
	Verdict string `json:"verdict"`
	Query   string `json:"query,omitempty"`
	TraceID string `json:"trace_id,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}
