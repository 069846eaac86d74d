package record

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type DigestCommand struct {
	terminal.Remote

	Scope string `arg:"" complete:"scopes"`
	Since string `default:"-7d" placeholder:"TIME"`
	Until string `placeholder:"TIME"`
	Weeks int    `placeholder:"N"`

	HTML     bool
	Language string `enum:"en,zh" default:"en"`
}

func (d *DigestCommand) Run(ctx context.Context, c *terminal.Console) error {
	q := client.Get("v1", "reports", "digest")
	q.Query = url.Values{"scope": {d.Scope}}
	if d.Weeks != 0 {
		q.Query.Set("weeks", fmt.Sprint(d.Weeks))
	}
	if err := terminal.PutTimes(q.Query, map[string]string{"since": d.Since, "until": d.Until}); err != nil {
		return err
	}
	if c.JSON {
		return d.Answer(ctx, c, q, nil, func() error { return nil })
	}
	server, err := d.Connect()
	if err != nil {
		return err
	}
	q.Header = http.Header{"Accept": {map[bool]string{true: "text/html", false: "text/markdown"}[d.HTML]}}
	q.Query.Set("language", d.Language)
	body, err := server.Open(ctx, q)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(body)
	if err != nil {
		return terminal.Unreachable(err, "the server's answer ended too early")
	}
	c.Lines(terminal.Printable(strings.TrimSuffix(string(text), "\n")))
	return nil
}

// SubscriptionCommands are the commands about subscriptions.
type SubscriptionCommands struct {
	Add        subscriptionAddCommand        `cmd:""`
	List       subscriptionListCommand       `cmd:""`
	Show       subscriptionShowCommand       `cmd:""`
	Pause      subscriptionPauseCommand      `cmd:""`
	Resume     subscriptionResumeCommand     `cmd:""`
	Rotate     subscriptionRotateCommand     `cmd:""`
	Remove     subscriptionRemoveCommand     `cmd:""`
	Test       subscriptionTestCommand       `cmd:""`
	Deliveries subscriptionDeliveriesCommand `cmd:""`
	Replay     subscriptionReplayCommand     `cmd:""`
}

func subscriptionPath(id string, more ...string) []string {
	return append([]string{"v1", "subscriptions", id}, more...)
}

type subscriptionAddCommand struct {
	terminal.Writing
	following

	Webhook string `placeholder:"URL"`
	Note    string `placeholder:"TEXT"`
}

func (s *subscriptionAddCommand) Run(ctx context.Context, c *terminal.Console) error {
	return changeSubscription(ctx, c, s.Remote, client.Request{
		Method: http.MethodPost, Path: []string{"v1", "subscriptions"}, Header: s.Header(0),
		Body: api.NewSubscription{
			Scope: s.Scope, Item: s.Item, Tag: s.Tag, Query: s.Query, Events: s.Events, Webhook: s.Webhook, Note: s.Note,
		},
	})
}

// changeSubscription sends a change, and shows the subscription after it. A secret is printed alone to standard output,
// after the id of a new subscription, so that scripts can store both.
func changeSubscription(ctx context.Context, c *terminal.Console, r terminal.Remote, q client.Request) error {
	var s api.Subscription
	return r.Answer(ctx, c, q, &s, func() error {
		if s.Secret == "" {
			showSubscription(c, s)
			return nil
		}
		if s.RotatedAt == nil {
			c.Say("%s", s.ID)
		}
		c.Say("%s", s.Secret)
		c.Note("the secret of subscription %s; it is not shown again", s.ID)
		return nil
	})
}

func showSubscription(c *terminal.Console, s api.Subscription) {
	fields := terminal.NewTable("", "")
	fields.Row("subscription", s.ID)
	fields.Row("state", terminal.Joined(": ", s.State, causes[s.Cause]))
	fields.Row("subscriber", terminal.Joined(", by ", s.Subscriber, s.By))
	fields.Row("follows", followed(s))
	fields.Row("events", strings.Join(s.Events, ", "))
	if s.Webhook != "" {
		fields.Row("webhook", s.Webhook)
	}
	if s.Note != "" {
		fields.Row("note", s.Note)
	}
	for _, state := range slices.Sorted(maps.Keys(s.Deliveries)) {
		fields.Row(state, s.Deliveries[state])
	}
	c.Table(fields)
}

// causes describe why a subscription was paused or has ended.
var causes = map[string]string{
	"rights": "its key is revoked or expired, or a member is deactivated", "gone": "the receiver answered with status 410",
	"erased": "its texts were erased",
}

func followed(s api.Subscription) string {
	for _, one := range [][2]string{{"scope", s.Scope}, {"item", s.Item}, {"tag", s.Tag}, {"query", s.Query}} {
		if one[1] != "" {
			return one[0] + " " + one[1]
		}
	}
	return "nothing: its texts were erased"
}

type subscriptionListCommand struct {
	terminal.Remote
	terminal.Tabular

	All   bool
	Ended bool
}

func (s *subscriptionListCommand) Run(ctx context.Context, c *terminal.Console) error {
	q := client.Get("v1", "subscriptions")
	q.Query = url.Values{}
	for name, given := range map[string]bool{"all": s.All, "ended": s.Ended} {
		if given {
			q.Query.Set(name, "true")
		}
	}
	var list api.Subscriptions
	return s.Answer(ctx, c, q, &list, func() error {
		if len(list.Items) == 0 {
			others := ""
			if !s.All {
				others = "; admins see those of others with --all"
			}
			s.Empty(c, "none yet: annals subscription add --scope SCOPE"+others)
			return nil
		}
		rows := terminal.NewTable("ID", "FOLLOWS", "SUBSCRIBER", "WEBHOOK", "STATE")
		rows.Spare = []string{"WEBHOOK", "SUBSCRIBER"}
		for _, one := range list.Items {
			rows.Row(one.ID, followed(one), one.Subscriber, one.Webhook, one.State)
		}
		return s.Show(c, rows)
	})
}

type subscriptionShowCommand struct {
	terminal.Remote

	ID string `arg:""`
}

func (s *subscriptionShowCommand) Run(ctx context.Context, c *terminal.Console) error {
	return changeSubscription(ctx, c, s.Remote, client.Get(subscriptionPath(s.ID)...))
}

// changing are the flags of a change with a reason.
type changing struct {
	terminal.Remote

	ID     string `arg:""`
	Reason string `placeholder:"TEXT"`
}

func (s changing) change(ctx context.Context, c *terminal.Console, method string, path ...string) error {
	return changeSubscription(ctx, c, s.Remote, client.Request{
		Method: method, Path: subscriptionPath(s.ID, path...), Body: api.Reason{Reason: s.Reason},
	})
}

type subscriptionPauseCommand struct{ changing }

func (s *subscriptionPauseCommand) Run(ctx context.Context, c *terminal.Console) error {
	return s.change(ctx, c, http.MethodPost, "pause")
}

type subscriptionRemoveCommand struct{ changing }

func (s *subscriptionRemoveCommand) Run(ctx context.Context, c *terminal.Console) error {
	return s.change(ctx, c, http.MethodDelete)
}

type subscriptionResumeCommand struct{ subscriptionShowCommand }

func (s *subscriptionResumeCommand) Run(ctx context.Context, c *terminal.Console) error {
	return changing{Remote: s.Remote, ID: s.ID}.change(ctx, c, http.MethodPost, "resume")
}

type subscriptionRotateCommand struct{ subscriptionShowCommand }

func (s *subscriptionRotateCommand) Run(ctx context.Context, c *terminal.Console) error {
	return changing{Remote: s.Remote, ID: s.ID}.change(ctx, c, http.MethodPost, "rotate")
}

type subscriptionTestCommand struct{ subscriptionShowCommand }

func (s *subscriptionTestCommand) Run(ctx context.Context, c *terminal.Console) error {
	var pong api.WebhookTest
	q := client.Request{Method: http.MethodPost, Path: subscriptionPath(s.ID, "test")}
	err := s.Answer(ctx, c, q, &pong, func() error {
		if pong.Delivered {
			c.Say("delivered, status %d", pong.Status)
		}
		return nil
	})
	if err == nil && !pong.Delivered && !c.JSON {
		f := &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "the ping was not delivered: " + pong.Error, Fix: "look at the receiver",
		}
		if strings.Contains(pong.Error, "private network") {
			f.Fix = "let the operator set ANNALS_FETCH_PRIVATE"
		}
		err = f
	}
	return err
}

type subscriptionDeliveriesCommand struct {
	terminal.Remote
	terminal.Tabular

	ID    string `arg:""`
	State string `enum:",pending,delivered,dead,dropped" default:"" placeholder:"STATE"`
	Limit int    `short:"n" default:"20" placeholder:"N"`
}

func (s *subscriptionDeliveriesCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := s.Connect()
	if err != nil {
		return err
	}
	query := url.Values{}
	terminal.Put(query, "state", s.State)
	page, err := terminal.ReadFirst[terminal.Kept[api.Delivery]](
		ctx, server, subscriptionPath(s.ID, "deliveries"), query, s.Limit,
	)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return c.Document(page)
	case len(page.Items) == 0:
		s.Empty(c, "no deliveries")
		return nil
	}
	rows := terminal.NewTable("#", "EVENT", "STATE", "ATTEMPTS", "LAST ANSWER", "NEXT")
	for _, item := range page.Items {
		d := item.Value
		answered := d.Error
		if answered == "" && d.Status != 0 {
			answered = fmt.Sprintf("status %d", d.Status)
		}
		rows.Row(d.Position, d.EventID, d.State, d.Attempts, answered, terminal.Text(d.NextAt))
	}
	return s.Show(c, rows)
}

type subscriptionReplayCommand struct {
	terminal.Remote

	ID    string `arg:""`
	Event string `arg:"" optional:""`
}

func (s *subscriptionReplayCommand) Run(ctx context.Context, c *terminal.Console) error {
	path := subscriptionPath(s.ID, "replay")
	if s.Event != "" {
		path = subscriptionPath(s.ID, "deliveries", s.Event, "replay")
	}
	var done api.Replay
	return s.Answer(ctx, c, client.Request{Method: http.MethodPost, Path: path}, &done, func() error {
		if done.Replayed == 0 {
			c.Say("no dead deliveries")
		} else {
			c.Say("%d to deliver again", done.Replayed)
		}
		return nil
	})
}
