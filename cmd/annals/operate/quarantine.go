package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/record"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// QuarantineCommands are the commands about streams that a projection skips.
type QuarantineCommands struct {
	List   quarantineListCommand   `cmd:""`
	Replay quarantineReplayCommand `cmd:""`
	Skip   quarantineSkipCommand   `cmd:""`
}

// quarantined are the quarantined streams of a projection.
type quarantined struct {
	projection string
	streams    []terminal.Kept[api.Quarantined]
}

func quarantineOf(projection string, more ...string) []string {
	return append([]string{"v1", "projections", projection, "quarantine"}, more...)
}

func readQuarantine(ctx context.Context, server *client.Client, projection string) (quarantined, error) {
	var list api.Short[terminal.Kept[api.Quarantined]]
	_, err := server.Do(ctx, client.Get(quarantineOf(projection)...), &list)
	return quarantined{projection, list.Items}, err
}

// readQuarantines reads the quarantines that contain the stream; with an empty stream, all that are not empty.
func readQuarantines(ctx context.Context, server *client.Client, stream string) (having []quarantined, err error) {
	all, err := server.Projections(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Quarantined == 0 || slices.ContainsFunc(having, func(q quarantined) bool { return q.projection == p.Name }) {
			continue
		}
		q, err := readQuarantine(ctx, server, p.Name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(q.streams, func(s terminal.Kept[api.Quarantined]) bool {
			return stream == "" || s.Value.Stream == stream
		}) {
			having = append(having, q)
		}
	}
	return having, nil
}

// nothingQuarantined reports that no stream is quarantined.
func nothingQuarantined(c *terminal.Console, projection string) error {
	if c.JSON {
		return c.Document(map[string]any{"items": []any{}})
	}
	c.Say("nothing is in quarantine: %s takes in everything", cmp.Or(projection, "every projection"))
	return nil
}

type quarantineListCommand struct {
	terminal.Remote
	terminal.Tabular

	Projection string `complete:"followers" placeholder:"NAME"`
}

func (q *quarantineListCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := q.Connect()
	if err != nil {
		return err
	}
	all := make([]quarantined, 1)
	if q.Projection == "" {
		all, err = readQuarantines(ctx, server, "")
	} else {
		all[0], err = readQuarantine(ctx, server, q.Projection)
	}
	if err != nil {
		return err
	}
	items := []json.RawMessage{}
	rows := terminal.NewTable("PROJECTION", "STREAM", "FROM", "WAITING", "SINCE", "TRIED", "WHY")
	rows.Spare = []string{"SINCE", "TRIED", "FROM"}
	for _, of := range all {
		for _, stream := range of.streams {
			items = append(items, record.WithFirstField(stream.Raw, "projection", of.projection))
			s := stream.Value
			rows.Row(of.projection, s.Stream, s.Position, s.Waiting, s.Since, s.Attempts, s.Error)
		}
	}
	if len(items) == 0 {
		return nothingQuarantined(c, q.Projection)
	}
	if c.JSON {
		return c.Document(map[string]any{"items": items})
	}
	if err := q.Show(c, rows); err != nil {
		return err
	}
	c.Note("after a repair: annals quarantine replay --projection NAME; to go on without: annals quarantine skip " +
		"STREAM --projection NAME")
	return nil
}

// quarantine are the flags of the commands that change a quarantine.
type quarantine struct {
	terminal.Remote

	Projection string `complete:"followers" placeholder:"NAME"`
	Stream     string `arg:"" optional:""`
}

// of finds the projection. It is the named one, or the only one that has quarantined the stream, or any stream if
// none is named. It is empty, and says so, if nothing is quarantined. Command is an example for an ambiguous request.
func (q quarantine) of(
	ctx context.Context, c *terminal.Console, command string,
) (server *client.Client, projection string, err error) {
	server, err = q.Connect()
	if err != nil || q.Projection != "" {
		return server, q.Projection, err
	}
	having, err := readQuarantines(ctx, server, q.Stream)
	if err != nil {
		return server, "", err
	}
	switch {
	case len(having) > 1:
		var names []string
		for _, other := range having {
			names = append(names, other.projection)
		}
		return server, "", terminal.Wrong(fmt.Sprintf("say which: %s --projection %s", command, names[0]),
			"%s have %s in quarantine", strings.Join(names, " and "), cmp.Or(q.Stream, "something"))
	case len(having) == 1:
		return server, having[0].projection, nil
	case q.Stream != "":
		return server, "", &terminal.Failure{
			Code: terminal.ExitNotFound, Detail: q.Stream + " is in the quarantine of no projection",
			Fix: "annals quarantine list shows what is",
		}
	}
	return server, "", nothingQuarantined(c, "")
}

type quarantineReplayCommand struct{ quarantine }

func (q *quarantineReplayCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, projection, err := q.of(ctx, c, strings.TrimSpace("annals quarantine replay "+q.Stream))
	if err != nil || projection == "" {
		return err
	}
	request := client.Post(nil, quarantineOf(projection, "replay")...)
	request.Query = url.Values{}
	terminal.Put(request.Query, "stream", q.Stream)
	var done api.Short[api.Replayed]
	a, err := server.Do(ctx, request, &done)
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.Document(a.Body)
	}
	left, rows := 0, terminal.NewTable("STREAM", "TAKEN IN", "WAITING", "FROM", "WHY")
	for _, s := range done.Items {
		if s.Released {
			rows.Row(s.Stream, s.Events, "", "", "released")
			continue
		}
		left++
		rows.Row(s.Stream, s.Events, s.Left.Waiting, s.Left.Position, s.Left.Error)
	}
	switch {
	case err != nil || c.JSON:
	case len(done.Items) > 0:
		c.Table(rows)
	default:
		c.Say("nothing is in quarantine: %s takes in everything", projection)
		c.Note("annals quarantine list shows that of every projection, and --projection NAME replays it")
	}
	if err == nil && left > 0 {
		err = &terminal.Failure{
			Code: terminal.ExitFailed, Detail: fmt.Sprintf("%d of %d streams stay in quarantine", left, len(done.Items)),
			Fix: "repair the reason and replay again, or go on without: annals quarantine skip STREAM --projection " +
				projection,
		}
	}
	return err
}

type quarantineSkipCommand struct {
	quarantine

	All bool
}

func (q *quarantineSkipCommand) Run(ctx context.Context, c *terminal.Console) error {
	if (q.Stream == "") != q.All {
		return terminal.Wrong("annals quarantine skip STREAM, or --all", "name one stream, or say that you mean all")
	}
	_, projection, err := q.of(ctx, c, "annals quarantine skip "+cmp.Or(q.Stream, "--all"))
	if err != nil || projection == "" {
		return err
	}
	request := client.Post(nil, quarantineOf(projection, "skip")...)
	request.Query = url.Values{"stream": {q.Stream}}
	if q.All {
		request.Query = url.Values{"all": {"true"}}
	}
	var done api.Short[api.Skipped]
	return q.Answer(ctx, c, request, &done, func() error {
		if len(done.Items) == 0 {
			return nothingQuarantined(c, projection)
		}
		rows := terminal.NewTable("STREAM", "POSITION", "EVENT", "NAME")
		for _, s := range done.Items {
			for _, event := range s.Events {
				rows.Row(s.Stream, event.Position, event.EventID, event.Name)
			}
		}
		c.Say("%s never takes in:", projection)
		c.Table(rows)
		return nil
	})
}
