package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// Change sends a change of an item and prints the result.
func (t Changing) Change(ctx context.Context, c *terminal.Console, r client.Request, done string) error {
	_, a, err := t.submit(ctx, r)
	if err != nil {
		return err
	}
	return t.print(c, a, done)
}

// submit sends a change of an item.
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

// print prints the result of a change.
func (t Changing) print(c *terminal.Console, a *client.Response, done string) error {
	switch {
	case c.JSON && len(a.Body) > 0:
		return c.Document(a.Body)
	case c.JSON: // the item is gone
		return c.Document(map[string]string{"id": t.ID, "event": a.Header.Get("Annals-Events")})
	}
	if a.Header.Get("Annals-Outcome") == domain.Unchanged {
		done = "nothing to change:"
	}
	var k Knowledge
	var parts []string
	if json.Unmarshal(a.Body, &k) == nil && k.ID != "" {
		parts = append(parts, fmt.Sprintf(" · revision %d · confidence %.2f · %s", k.Revision, k.Rating().Confidence,
			k.votes()))
	}
	if k.ConfirmUntil != nil && !k.ConfirmationExpired {
		parts = append(parts, " · confirmed until "+terminal.Text(k.ConfirmUntil))
	}
	if k.SupersededBy != "" {
		parts = append(parts, " · superseded by "+k.SupersededBy)
	}
	c.Say("%s %s%s", done, terminal.Bold.Render(t.ID), strings.Join(parts, ""))
	RedactionsOf(a).Print(c)
	return nil
}

type SupersedeCommand struct {
	Changing

	By     string `complete:"ids" arg:""`
	Reason string `short:"r" placeholder:"TEXT"`
}

func (s *SupersedeCommand) Run(ctx context.Context, c *terminal.Console) error {
	return s.Change(ctx, c, client.Post(api.Supersession{By: s.By, Reason: s.Reason}, "supersede"), "superseded")
}

type ForgetCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
}

func (f *ForgetCommand) Run(ctx context.Context, c *terminal.Console) error {
	query := url.Values{}
	terminal.Put(query, "reason", f.Reason)
	return f.Change(ctx, c, client.Request{Method: http.MethodDelete, Query: query}, "forgot")
}

type StaleCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
}

func (s *StaleCommand) Run(ctx context.Context, c *terminal.Console) error {
	return s.Change(ctx, c, client.Post(api.Reason{Reason: s.Reason}, "stale"), "reported stale:")
}

type ConfirmCommand struct {
	Changing

	Reason string `short:"r" placeholder:"TEXT"`
	Until  string `placeholder:"TIME"`
}

func (f *ConfirmCommand) Run(ctx context.Context, c *terminal.Console) error {
	until, err := terminal.WhenOf("until", f.Until, time.Now())
	if err != nil {
		return err
	}
	body := api.Confirmation{Reason: f.Reason, Until: terminal.IfSet(until)}
	return f.Change(ctx, c, client.Post(body, "confirm"), "confirmed")
}

// Changing are the flags of the commands that change one item.
type Changing struct {
	terminal.Writing

	ID       string `complete:"ids" arg:""`
	Revision int64  `field:"If-Match" least:"1" placeholder:"N"`
}
