package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/record"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// shownStages is how many of the newest events of a projection are shown.
const shownStages = 100

// showHistory shows what happened to the projection, oldest first.
func (r *RebuildCommand) showHistory(ctx context.Context, c *terminal.Console, server *client.Client) error {
	var page api.Page[json.RawMessage]
	query := url.Values{"limit": {strconv.Itoa(shownStages)}}
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: r.path("history"), Query: query}, &page); err != nil {
		return err
	}
	slices.Reverse(page.Items)
	if c.JSON {
		return c.Document(map[string]any{"items": page.Items})
	}
	if len(page.Items) == 0 {
		c.Say("%s has never been rebuilt", r.Projection)
		return nil
	}
	rows := &terminal.Grid{Heads: []string{"WHEN", "VERSION", "WHAT", "WHO", "DETAILS"}}
	for _, raw := range page.Items {
		var e record.Event
		var s stage
		err := json.Unmarshal(raw, &e)
		if err == nil {
			err = json.Unmarshal(e.Data, &s)
		}
		if err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		details := terminal.Joined(" · ", s.details(), e.Reason)
		rows.Row(terminal.Moment(e.RecordedAt), strconv.Itoa(s.Version), e.What(), e.Who(), terminal.Printable(details))
	}
	c.Table(rows.Render(c.Width))
	return nil
}

// stage is what an event of a projection says.
type stage struct {
	Version    int               `json:"version"`
	Settings   map[string]string `json:"settings"`
	From       int               `json:"from"`
	Items      int64             `json:"items"`
	Streams    int64             `json:"streams"`
	Events     int64             `json:"events"`
	Deviations int64             `json:"deviations"`
	Changed    map[string]int64  `json:"changed"`
	Overlap    float64           `json:"overlap"`
	Searches   int               `json:"searches"`
	Seconds    float64           `json:"seconds"`
}

// details are what is worth knowing about the event, on a line.
func (s stage) details() string {
	var parts []string
	say := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		switch name {
		case "what_if":
			say("a what-if")
		case "repair":
			say("a repair")
		default:
			say("%s %s", name, s.Settings[name])
		}
	}
	if s.From > 0 {
		say("from version %d", s.From)
	}
	if s.Items > 0 {
		say("%s items", terminal.Counted(s.Items))
	}
	if s.Events > 0 {
		say("%s events", terminal.Counted(s.Events))
	}
	if s.Deviations > 0 {
		say("%s wrong", terminal.Counted(s.Deviations))
	}
	for _, column := range slices.Sorted(maps.Keys(s.Changed)) {
		say("%s of %s", column, terminal.Counted(s.Changed[column]))
	}
	if s.Searches > 0 && s.Overlap < 1 {
		say("%.0f %% of what searches find first is the same", percent(s.Overlap))
	}
	if s.Seconds > 0 {
		say("%.1f s", s.Seconds)
	}
	return strings.Join(parts, " · ")
}
