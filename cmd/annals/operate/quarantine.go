package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/record"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// QuarantineCommands are what can be done about streams that a projection passes over.
type QuarantineCommands struct {
	List   quarantineListCommand   `cmd:""`
	Replay quarantineReplayCommand `cmd:""`
	Skip   quarantineSkipCommand   `cmd:""`
}

// quarantine names the projection whose it is.
type quarantine struct {
	terminal.Remote

	Projection string `complete:"followers" placeholder:"NAME"`
}

// of is the projection that is meant: the one that was named, or the only one that has the stream in quarantine, or
// anything if no stream is named. It is empty if nothing is in quarantine; command is how to ask again.
func (q quarantine) of(ctx context.Context, server *client.Client, stream, command string) (string, error) {
	if q.Projection != "" {
		return q.Projection, nil
	}
	having, err := passingOver(ctx, server, stream)
	if err != nil {
		return "", err
	}
	switch what := cmp.Or(terminal.Printable(stream), "something"); {
	case len(having) > 1:
		var names []string
		for _, a := range having {
			names = append(names, a.projection)
		}
		return "", terminal.Wrong(fmt.Sprintf("say which: %s --projection %s", command, names[0]), "%s have %s in quarantine", strings.Join(names, " and "), what)
	case len(having) == 1:
		return having[0].projection, nil
	case stream != "":
		return "", &terminal.Failure{Code: terminal.ExitNotFound, Detail: what + " is in the quarantine of no projection", Fix: "annals quarantine list shows what is"}
	}
	return "", nil
}

// nothingAside says that there was nothing to do.
func nothingAside(c *terminal.Console, projection string) error {
	if c.JSON {
		return c.Document(map[string]any{"items": []any{}})
	}
	c.Say("nothing is in quarantine: %s takes in everything", cmp.Or(projection, "every projection"))
	return nil
}

func quarantineOf(projection string, more ...string) []string {
	return append([]string{"v1", "projections", projection, "quarantine"}, more...)
}

type quarantineListCommand struct {
	terminal.Remote
	terminal.Tabular

	Projection string `complete:"followers" placeholder:"NAME"`
}

// quarantined is a stream that a projection passes over.
type quarantined struct {
	api.Quarantined

	raw json.RawMessage // all that the server said of it
}

// Run implements the command.
func (q *quarantineListCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := q.Connect()
	if err != nil {
		return err
	}
	all := []aside{{projection: q.Projection}}
	if q.Projection == "" {
		all, err = passingOver(ctx, server, "")
	} else {
		all[0].streams, err = passedOver(ctx, server, q.Projection)
	}
	if err != nil {
		return err
	}
	items := []json.RawMessage{}
	rows := &terminal.Grid{Heads: []string{"PROJECTION", "STREAM", "FROM", "WAITING", "SINCE", "TRIED", "WHY"}, Spare: []string{"SINCE", "TRIED", "FROM"}}
	for _, of := range all {
		for _, s := range of.streams {
			items = append(items, record.Begun(s.raw, "projection", of.projection))
			rows.Row(of.projection, terminal.Printable(s.Stream), terminal.Counted(s.Position), terminal.Counted(s.Waiting), terminal.MomentOf(s.Since), terminal.Counted(int64(s.Attempts)), terminal.Printable(s.Error))
		}
	}
	if len(items) == 0 {
		return nothingAside(c, q.Projection)
	}
	if c.JSON {
		return c.Document(map[string]any{"items": items})
	}
	if err := q.Show(c, rows); err != nil {
		return err
	}
	c.Note("when the reason is mended: annals quarantine replay --projection NAME; to go on without: annals quarantine skip STREAM --projection NAME")
	return nil
}

// aside is what a projection has in quarantine.
type aside struct {
	projection string
	streams    []quarantined
}

// passingOver are the projections that have a stream in quarantine, with all that they have there; anything at all if it
// is empty.
func passingOver(ctx context.Context, server *client.Client, stream string) ([]aside, error) {
	all, err := server.Projections(ctx)
	if err != nil {
		return nil, err
	}
	var having []aside
	for _, p := range all {
		if p.Quarantined == 0 || slices.ContainsFunc(having, func(a aside) bool { return a.projection == p.Name }) {
			continue
		}
		list, err := passedOver(ctx, server, p.Name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(q quarantined) bool { return stream == "" || q.Stream == stream }) {
			having = append(having, aside{p.Name, list})
		}
	}
	return having, nil
}

// passedOver are the streams that a projection passes over.
func passedOver(ctx context.Context, server *client.Client, projection string) ([]quarantined, error) {
	var list struct{ Items []json.RawMessage }
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: quarantineOf(projection)}, &list); err != nil {
		return nil, err
	}
	streams := make([]quarantined, len(list.Items))
	for i, raw := range list.Items {
		if err := json.Unmarshal(raw, &streams[i]); err != nil {
			return nil, fmt.Errorf("read the server's answer: %w", err)
		}
		streams[i].raw = raw
	}
	return streams, nil
}

type quarantineReplayCommand struct {
	quarantine

	Stream string `arg:"" optional:""`
}

// Run implements the command.
func (q *quarantineReplayCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := q.Connect()
	if err != nil {
		return err
	}
	projection, err := q.of(ctx, server, q.Stream, strings.TrimSpace("annals quarantine replay "+terminal.Printable(q.Stream)))
	if err != nil {
		return err
	}
	if projection == "" {
		return nothingAside(c, "")
	}
	var done api.Short[api.Replayed]
	query := url.Values{}
	if q.Stream != "" {
		query.Set("stream", q.Stream)
	}
	a, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: quarantineOf(projection, "replay"), Query: query}, &done)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := c.Document(a.Body); err != nil {
			return err
		}
	}
	left := 0
	for _, s := range done.Items {
		if !s.Released {
			left++
		}
		switch {
		case c.JSON:
		case s.Released:
			c.Say("%s: %s taken in, released", terminal.Printable(s.Stream), someEvents(s.Events))
		default:
			c.Say("%s: %s taken in, %s waiting from position %s on: %s", terminal.Printable(s.Stream), someEvents(s.Events),
				someEvents(s.Left.Waiting), terminal.Counted(s.Left.Position), terminal.Printable(s.Left.Error))
		}
	}
	if len(done.Items) == 0 && !c.JSON {
		c.Say("nothing is in quarantine: %s takes in everything", projection)
		c.Note("annals quarantine list shows that of every projection, and --projection NAME replays it")
	}
	if left > 0 {
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: fmt.Sprintf("%d of %d streams stay in quarantine", left, len(done.Items)),
			Fix: "mend the reason and replay again, or go on without: annals quarantine skip STREAM --projection " + projection,
		}
	}
	return nil
}

// someEvents are so many, in words.
func someEvents(n int64) string {
	if n == 1 {
		return "1 event"
	}
	return terminal.Counted(n) + " events"
}

type quarantineSkipCommand struct {
	quarantine

	Stream string `arg:"" optional:""`
	All    bool
}

// Run implements the command.
func (q *quarantineSkipCommand) Run(ctx context.Context, c *terminal.Console) error {
	if (q.Stream == "") != q.All {
		return terminal.Wrong("annals quarantine skip STREAM, or --all", "name one stream, or say that you mean all")
	}
	server, err := q.Connect()
	if err != nil {
		return err
	}
	query := url.Values{"stream": {q.Stream}}
	if q.All {
		query = url.Values{"all": {"true"}}
	}
	projection, err := q.of(ctx, server, q.Stream, "annals quarantine skip "+cmp.Or(terminal.Printable(q.Stream), "--all"))
	if err != nil {
		return err
	}
	if projection == "" {
		return nothingAside(c, "")
	}
	var done api.Short[api.Skipped]
	a, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: quarantineOf(projection, "skip"), Query: query}, &done)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	rows := &terminal.Grid{Heads: []string{"STREAM", "POSITION", "EVENT", "NAME"}}
	for _, s := range done.Items {
		for _, event := range s.Events {
			rows.Row(terminal.Printable(s.Stream), terminal.Counted(event.Position), event.EventID, event.Name)
		}
	}
	if len(done.Items) == 0 {
		return nothingAside(c, projection)
	}
	c.Say("%s never takes in:", projection)
	c.Table(rows.Render(c.Width))
	return nil
}
