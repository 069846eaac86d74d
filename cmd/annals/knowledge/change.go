package knowledge

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// Change sends one change of an item and prints what became of it.
func (t Changing) Change(ctx context.Context, c *terminal.Console, r client.Request, done string) error {
	_, a, err := t.submit(ctx, r)
	if err != nil {
		return err
	}
	return t.print(c, a, done)
}

// submit sends one change of an item.
func (t Changing) submit(ctx context.Context, r client.Request) (*client.Client, *client.Response, error) {
	server, err := t.Connect()
	if err != nil {
		return nil, nil, err
	}
	header := t.Header(t.Revision)
	maps.Copy(header, r.Header)
	r.Path, r.Header = append([]string{"v1", "knowledge", t.ID}, r.Path...), header
	a, err := server.Do(ctx, r, nil)
	return server, a, err
}

// outcome is the item as a change has left it, or the event that took it away.
func (t Changing) outcome(a *client.Response) any {
	if len(a.Body) > 0 {
		return a.Body
	}
	return map[string]string{"id": t.ID, "event": a.Header.Get("Annals-Events")}
}

// print shows what became of a change.
func (t Changing) print(c *terminal.Console, a *client.Response, done string) error {
	if c.JSON {
		return c.Document(t.outcome(a))
	}
	k, known := knowledgeOf(a)
	if a.Header.Get("Annals-Outcome") == domain.Unchanged {
		done = "nothing to change:"
	}
	line := fmt.Sprintf("%s %s", done, terminal.Bold.Render(terminal.Printable(t.ID)))
	if known {
		line += fmt.Sprintf(" · revision %d · confidence %.2f · %s", k.Revision, k.Rating().Confidence, k.votes())
	}
	if k.ConfirmUntil != nil && !k.ConfirmationExpired {
		line += " · confirmed until " + terminal.Moment(*k.ConfirmUntil)
	}
	if k.SupersededBy != "" {
		line += " · superseded by " + terminal.Printable(k.SupersededBy)
	}
	c.Say("%s", line)
	RedactionsOf(a).Print(c)
	return nil
}

type SupersedeCommand struct {
	Changing

	By     string `complete:"ids" arg:""`
	Reason string `short:"r" placeholder:"TEXT"`
}

// Run implements the command.
func (s *SupersedeCommand) Run(ctx context.Context, c *terminal.Console) error {
	err := s.Change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"supersede"}, Body: api.Supersession{By: s.By, Reason: s.Reason},
	}, "superseded")
	if f := terminal.AsFailure(err); err != nil && f.Misses("by") {
		f.Code, f.Detail = terminal.ExitNotFound, "what is to take its place is not there"
		return f
	}
	return err
}

type ForgetCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
}

// Run implements the command.
func (f *ForgetCommand) Run(ctx context.Context, c *terminal.Console) error {
	return f.Change(ctx, c, client.Request{Method: http.MethodDelete, Query: terminal.ReasonQuery(f.Reason)}, "forgot")
}

type RestoreCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
}

// Run implements the command.
func (r *RestoreCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.Change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"restore"}, Body: api.Reason{Reason: r.Reason},
	}, "restored")
}

type StaleCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
}

// Run implements the command.
func (s *StaleCommand) Run(ctx context.Context, c *terminal.Console) error {
	return s.Change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"stale"}, Body: api.Reason{Reason: s.Reason},
	}, "reported stale:")
}

type ConfirmCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
	Until  string `placeholder:"TIME"`
}

// Run implements the command.
func (f *ConfirmCommand) Run(ctx context.Context, c *terminal.Console) error {
	until, err := terminal.WhenOf("until", f.Until, time.Now())
	if err != nil {
		return err
	}
	return f.Change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{"confirm"}, Body: api.Confirmation{Reason: f.Reason, Until: terminal.IfSet(until)},
	}, "confirmed")
}

// Changing are the flags of the commands that change one piece of knowledge.
type Changing struct {
	terminal.Writing

	ID       string `complete:"ids" arg:""`
	Revision int64  `field:"If-Match" least:"1" placeholder:"N"`
}
