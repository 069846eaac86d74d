package main

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
)

// shownStages is how many of the newest events of a projection are shown.
const shownStages = 100

// showHistory shows what happened to the projection, oldest first.
func (r *rebuildCommand) showHistory(ctx context.Context, c *console, api *client) error {
	var page page
	query := url.Values{"limit": {strconv.Itoa(shownStages)}}
	if _, err := api.read(ctx, request{Method: http.MethodGet, Path: r.path("history"), Query: query}, &page); err != nil {
		return err
	}
	slices.Reverse(page.Items)
	if c.json {
		return c.document(map[string]any{"items": page.Items})
	}
	if len(page.Items) == 0 {
		c.say("%s has never been rebuilt", r.Projection)
		return nil
	}
	rows := &grid{heads: []string{"WHEN", "VERSION", "WHAT", "WHO", "DETAILS"}}
	for _, raw := range page.Items {
		var s stage
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		rows.row(moment(s.RecordedAt), strconv.Itoa(s.Data.Version), s.what(), s.who(), printable(s.details()))
	}
	c.say("%s", rows.render(c.width))
	return nil
}

// stage is an event of a projection.
type stage struct {
	event
	Data struct {
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
	} `json:"data"`
}

// what happened: going back a second time goes forward again.
func (s stage) what() string {
	if s.Name == "projection.rolled_back" && s.Data.Version > s.Data.From {
		return "rolled forward"
	}
	return s.event.what()
}

// details are what is worth knowing about the event, on a line.
func (s stage) details() string {
	var parts []string
	say := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	for _, name := range slices.Sorted(maps.Keys(s.Data.Settings)) {
		switch name {
		case "what_if":
			say("a what-if")
		case "repair":
			say("a repair")
		default:
			say("%s %s", name, s.Data.Settings[name])
		}
	}
	if s.Data.From > 0 {
		say("from version %d", s.Data.From)
	}
	if s.Data.Items > 0 {
		say("%s items", counted(s.Data.Items))
	}
	if s.Data.Events > 0 {
		say("%s events", counted(s.Data.Events))
	}
	if s.Data.Deviations > 0 {
		say("%s wrong", counted(s.Data.Deviations))
	}
	for _, column := range slices.Sorted(maps.Keys(s.Data.Changed)) {
		say("%s of %s", column, counted(s.Data.Changed[column]))
	}
	if s.Data.Searches > 0 && s.Data.Overlap < 1 {
		say("%.0f %% of what searches find first is the same", percent(s.Data.Overlap))
	}
	if s.Data.Seconds > 0 {
		say("%.1f s", s.Data.Seconds)
	}
	if s.Reason != "" {
		say("%s", s.Reason)
	}
	return strings.Join(parts, " · ")
}
