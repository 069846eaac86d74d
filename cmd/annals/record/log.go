package record

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/client"
)

type LogCommand struct {
	terminal.Remote
	terminal.Tabular
	logFilters

	After  int64 `group:"events" placeholder:"N"`
	Limit  int   `short:"n" default:"20" placeholder:"N"`
	Follow bool  `short:"f"`
}

// logFilters are the filters of the log.
type logFilters struct {
	Actor        string   `group:"events" placeholder:"ENTITY"`
	For          string   `field:"on_behalf_of" group:"events" placeholder:"ENTITY"`
	Name         []string `group:"events" placeholder:"NAME"`
	Stream       string   `group:"events" placeholder:"STREAM"`
	Scope        string   `complete:"scopes" group:"events" placeholder:"SCOPE"`
	Owner        string   `group:"events" placeholder:"ENTITY"`
	From         string   `group:"events" placeholder:"TIME"`
	To           string   `group:"events" placeholder:"TIME"`
	OccurredFrom string   `group:"events" placeholder:"TIME"`
	OccurredTo   string   `group:"events" placeholder:"TIME"`
	Trace        string   `field:"trace_id" group:"events" placeholder:"ID"`
	Correlation  string   `field:"correlation_id" group:"events" placeholder:"ID"`
	Request      string   `field:"request_id" group:"events" placeholder:"ID"`
	Words        string   `field:"q" group:"events" placeholder:"WORDS"`
}

func (l *LogCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := l.Connect()
	if err != nil {
		return err
	}
	query, err := l.query()
	if err != nil {
		return err
	}
	if l.Follow && l.To != "" {
		return terminal.Wrong("leave out --to, or --follow", "what is recorded from now on has no end")
	}
	items, err := l.chosen(ctx, server, query)
	if err != nil {
		return err
	}
	if l.Follow {
		return l.follow(ctx, c, server, query, items)
	}
	if c.JSON {
		return c.Document(map[string]any{"items": items})
	}
	if len(items) == 0 {
		why := "nothing happened yet"
		if len(query) > 0 || l.After != 0 {
			why = "nothing of that kind happened, as far as you may see"
		}
		l.Empty(c, why)
		return nil
	}
	rows := terminal.NewTable(eventHeads...)
	rows.Spare = []string{"WHO", "WHEN"}
	for _, item := range items {
		rows.Row(eventRow(item.Value)...)
	}
	return l.Show(c, rows)
}

var eventHeads = []string{"#", "WHEN", "WHAT", "WHO", "STREAM"}

func eventRow(e Event) []any {
	return []any{fmt.Sprint(e.Position), e.RecordedAt, e.What(), e.Who(), e.Stream}
}

// chosen reads the newest events of the query, or the first ones after a position, and returns them oldest first.
func (l *LogCommand) chosen(
	ctx context.Context, server *client.Client, query url.Values,
) ([]terminal.Kept[Event], error) {
	query = maps.Clone(query)
	if l.After != 0 {
		query.Set("after", strconv.FormatInt(l.After, 10))
	} else {
		query.Set("order", "desc")
	}
	page, err := terminal.ReadFirst[terminal.Kept[Event]](
		ctx, server, []string{"v1", "events"}, query, l.Limit,
	)
	if err != nil {
		return nil, err
	}
	items := page.Items
	if l.After == 0 {
		slices.Reverse(items)
	}
	return items, nil
}

// query is the filters as query parameters.
func (l logFilters) query() (url.Values, error) {
	query := url.Values{}
	terminal.Put(query, "actor", l.Actor)
	terminal.Put(query, "on_behalf_of", l.For)
	terminal.Put(query, "name", l.Name...)
	terminal.Put(query, "stream", l.Stream)
	terminal.Put(query, "scope", l.Scope)
	terminal.Put(query, "owner", l.Owner)
	terminal.Put(query, "trace_id", l.Trace)
	terminal.Put(query, "correlation_id", l.Correlation)
	terminal.Put(query, "request_id", l.Request)
	terminal.Put(query, "q", l.Words)
	return query, terminal.PutTimes(query, map[string]string{
		"from": l.From, "to": l.To, "occurred-from": l.OccurredFrom, "occurred-to": l.OccurredTo,
	})
}
