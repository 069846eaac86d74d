package knowledge

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type FeedbackCommand struct {
	Changing

	Verdict string `arg:"" optional:"" complete:"verdicts"`
	Retract bool
	Query   string `short:"q" placeholder:"TEXT"`
	Outcome string `short:"o" placeholder:"TEXT"`
	Trace   string `field:"trace_id" placeholder:"ID"`
	Event   string `field:"event_id" placeholder:"ID"`
}

func (f *FeedbackCommand) Validate() error {
	switch {
	case f.Retract && f.Verdict != "":
		return terminal.Wrong("", "a vote is either given or taken back: leave out %s or --retract", f.Verdict)
	case !f.Retract && f.Verdict == "":
		return terminal.Wrong("", "say helpful or harmful, or --retract")
	case !f.Retract && f.Event != "":
		return terminal.Wrong("", "--event belongs to --retract")
	}
	return nil
}

func (f *FeedbackCommand) Run(ctx context.Context, c *terminal.Console) error {
	if f.Retract {
		query := url.Values{}
		terminal.Put(query, "event_id", f.Event)
		terminal.Put(query, "trace_id", f.Trace)
		retraction := client.Request{Method: http.MethodDelete, Path: []string{"feedback"}, Query: query}
		return f.Change(ctx, c, retraction, "took the vote back on")
	}
	vote := api.Vote{Verdict: f.Verdict, Query: f.Query, TraceID: f.Trace, Outcome: f.Outcome}
	server, a, err := f.submit(ctx, client.Post(vote, "feedback"))
	if err != nil {
		return err
	}
	if err := f.print(c, a, "found "+f.Verdict+":"); err != nil || c.JSON {
		return err
	}
	event, _, _ := strings.Cut(a.Header.Get("Annals-Receipt"), " ")
	switch {
	case !server.Replaced(ctx, event):
	case f.Trace == "":
		c.Note("this replaces the voter's earlier vote of today; with --trace ID each run has a vote of its own")
	default:
		c.Note("this replaces the voter's earlier vote on the trace %s", f.Trace)
	}
	return nil
}
