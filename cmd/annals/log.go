package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

type logCommand struct {
	remote
	logFilters

	Limit int `short:"n" default:"20" placeholder:"N" help:"At most so many, the newest."`
}

// logFilters narrow the log.
type logFilters struct {
	Actor  string `group:"events" placeholder:"ENTITY" help:"Only what this entity did, or what was done on its behalf."`
	Name   string `group:"events" placeholder:"NAME" help:"Only events of this name, such as knowledge.found_helpful."`
	Stream string `group:"events" placeholder:"STREAM" help:"Only events of this stream, such as knowledge:ID."`
	From   string `group:"events" placeholder:"TIME" help:"Only what was recorded since: a time or a date."`
	To     string `group:"events" placeholder:"TIME" help:"Only what was recorded before: a time or a date."`
}

// Help implements kong.HelpProvider.
func (logCommand) Help() string {
	return `Examples:

    annals log
    annals log --actor user:123 --from 2026-03-01 --limit 50
    annals log --name knowledge.reported_stale --json`
}

// Run implements the command.
func (l *logCommand) Run(ctx context.Context, c *console) error {
	api, err := l.connect()
	if err != nil {
		return err
	}
	query, err := l.asked()
	if err != nil {
		return err
	}
	query.Set("order", "desc")
	var items []json.RawMessage
	for len(items) < l.Limit {
		query.Set("limit", strconv.Itoa(min(l.Limit-len(items), largestLogPage)))
		var page page
		if _, err := api.read(ctx, request{Method: http.MethodGet, Path: []string{"v1", "events"}, Query: query}, &page); err != nil {
			return err
		}
		items = append(items, page.Items...)
		if page.NextCursor == "" || len(page.Items) == 0 {
			break
		}
		query.Set("cursor", page.NextCursor)
	}
	slices.Reverse(items)
	if c.json {
		return c.document(map[string]any{"items": items})
	}
	return printLog(c, items)
}

func printLog(c *console, items []json.RawMessage) error {
	rows := &grid{heads: []string{"#", "WHEN", "WHAT", "WHO", "STREAM"}}
	for _, raw := range items {
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		rows.row(strconv.FormatInt(e.Position, 10), moment(e.RecordedAt), e.what(), e.who(), printable(e.Stream))
	}
	if len(items) == 0 {
		c.say("nothing happened yet")
		return nil
	}
	c.say("%s", rows.render(c.width))
	return nil
}

// asked are the filters as parameters of the log.
func (l logFilters) asked() (url.Values, error) {
	query := url.Values{}
	put(query, "actor", l.Actor)
	put(query, "name", l.Name)
	put(query, "stream", l.Stream)
	for name, value := range map[string]string{"from": l.From, "to": l.To} {
		at, err := timeOf(name, value)
		if err != nil {
			return nil, err
		}
		put(query, name, at)
	}
	return query, nil
}

// timeOf accepts a time or a date; a date begins at midnight here.
func timeOf(flag, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		at, err = time.ParseInLocation(time.DateOnly, value, time.Local)
	}
	if err != nil {
		return "", wrong("as in --"+flag+" 2026-03-01 or --"+flag+" 2026-03-01T09:30:00Z", "--%s must be a time or a date", flag)
	}
	return at.UTC().Format(time.RFC3339Nano), nil
}
