package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/domain"
)

// header carries the key of a write and the revision it expects.
func (w writing) header(revision int64) http.Header {
	header := http.Header{}
	if w.IdempotencyKey != "" {
		header.Set("Idempotency-Key", w.IdempotencyKey)
	}
	if revision != 0 {
		header.Set("If-Match", `"`+strconv.FormatInt(revision, 10)+`"`)
	}
	return header
}

// change sends one change of an item and prints what became of it.
func (t changing) change(ctx context.Context, c *console, r client.Request, done string) error {
	_, a, err := t.submit(ctx, r)
	if err != nil {
		return err
	}
	return t.print(c, a, done)
}

// submit sends one change of an item.
func (t changing) submit(ctx context.Context, r client.Request) (*client.Client, *client.Response, error) {
	server, err := t.connect()
	if err != nil {
		return nil, nil, err
	}
	header := t.header(t.Revision)
	maps.Copy(header, r.Header)
	r.Path, r.Header = append([]string{"v1", "knowledge", t.ID}, r.Path...), header
	a, err := server.Do(ctx, r, nil)
	return server, a, err
}

// outcome is the item as a change has left it, or the event that took it away.
func (t changing) outcome(a *client.Response) any {
	if len(a.Body) > 0 {
		return a.Body
	}
	return map[string]string{"id": t.ID, "event": a.Header.Get("Annals-Events")}
}

// print shows what became of a change.
func (t changing) print(c *console, a *client.Response, done string) error {
	if c.json {
		return c.document(t.outcome(a))
	}
	k, known := knowledgeOf(a)
	if a.Header.Get("Annals-Outcome") == domain.Unchanged {
		done = "nothing to change:"
	}
	line := fmt.Sprintf("%s %s", done, bold.Render(printable(t.ID)))
	if known {
		line += fmt.Sprintf(" · revision %d · confidence %.2f · %s", k.Revision, k.rating().Confidence, k.votes())
	}
	if k.ConfirmUntil != nil && !k.ConfirmationExpired {
		line += " · confirmed until " + moment(*k.ConfirmUntil)
	}
	if k.SupersededBy != "" {
		line += " · superseded by " + printable(k.SupersededBy)
	}
	c.say("%s", line)
	redactionsOf(a).print(c)
	return nil
}

type supersedeCommand struct {
	changing

	By     string `complete:"ids" arg:"" help:"The piece of knowledge that takes its place."`
	Reason string `short:"r" placeholder:"TEXT" help:"Why. It stays in the history."`
}

// Help implements kong.HelpProvider.
func (supersedeCommand) Help() string {
	return `Example:

    annals supersede retry-advice retry-advice-2 --reason "the API sends Retry-After now"`
}

// Run implements the command.
func (s *supersedeCommand) Run(ctx context.Context, c *console) error {
	err := s.change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"supersede"}, Body: api.Supersession{By: s.By, Reason: s.Reason},
	}, "superseded")
	if f := asFailure(err); err != nil && f.misses("by") {
		f.Code, f.Detail = exitNotFound, "what is to take its place is not there"
		return f
	}
	return err
}

// misses tells whether nothing is wrong but that a field names something that is not there.
func (f *failure) misses(name string) bool {
	return len(f.Fields) == 1 && f.Fields[0].Field == name && f.Fields[0].Missing
}

type forgetCommand struct {
	changing

	Reason string `short:"r" placeholder:"TEXT" help:"Why. It stays in the history."`
}

// Help implements kong.HelpProvider.
func (forgetCommand) Help() string {
	return `Example:

    annals forget retry-advice --reason "the API is gone"
    annals restore retry-advice`
}

// Run implements the command.
func (f *forgetCommand) Run(ctx context.Context, c *console) error {
	return f.change(ctx, c, client.Request{Method: http.MethodDelete, Query: reasonQuery(f.Reason)}, "forgot")
}

type restoreCommand struct {
	changing

	Reason string `short:"r" placeholder:"TEXT" help:"Why. It stays in the history."`
}

// Help implements kong.HelpProvider.
func (restoreCommand) Help() string {
	return `What was superseded when it was forgotten is superseded again. To restore that ends it.

Example:

    annals restore retry-advice --reason "forgotten by mistake"`
}

// Run implements the command.
func (r *restoreCommand) Run(ctx context.Context, c *console) error {
	return r.change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"restore"}, Body: api.Reason{Reason: r.Reason},
	}, "restored")
}

type staleCommand struct {
	changing

	Reason string `short:"r" placeholder:"TEXT" help:"What changed. It stays in the history."`
}

// Help implements kong.HelpProvider.
func (staleCommand) Help() string {
	return `Every distinct reporter halves the confidence, until somebody confirms the knowledge.

Example:

    annals stale retry-advice --reason "the API answers 503 now"`
}

// Run implements the command.
func (s *staleCommand) Run(ctx context.Context, c *console) error {
	return s.change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"stale"}, Body: api.Reason{Reason: s.Reason},
	}, "reported stale:")
}

type confirmCommand struct {
	changing

	Reason string `short:"r" placeholder:"TEXT" help:"How you know. It stays in the history."`
	Until  string `placeholder:"TIME" help:"Until when this holds: a time, a date, or a while such as 90d or 12h."`
}

// Help implements kong.HelpProvider.
func (confirmCommand) Help() string {
	return `After --until the confirmation has expired: the knowledge is marked, annals report stale and list --is-stale show it, and the
reports of staleness before the confirmation count again.

Example:

    annals confirm retry-advice --reason "tried it today" --until 2027-01-01`
}

// Run implements the command.
func (f *confirmCommand) Run(ctx context.Context, c *console) error {
	until, err := whenOf("until", f.Until, time.Now())
	if err != nil {
		return err
	}
	return f.change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"confirm"}, Body: api.Confirmation{Reason: f.Reason, Until: ifSet(until)},
	}, "confirmed")
}
