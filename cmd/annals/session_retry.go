package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/client"
)

type sessionRetryCommand struct {
	remote

	ID   string `complete:"sessions" arg:"" help:"Which session."`
	Wait bool   `help:"Wait until they were tried."`
}

// Help implements kong.HelpProvider.
func (sessionRetryCommand) Help() string {
	return `A server tries failed archives again by itself, at growing intervals, for a day. This asks for it at once, as often as you like.

Examples:

    annals session retry planning --wait`
}

// Run implements the command.
func (s *sessionRetryCommand) Run(ctx context.Context, c *console) error {
	query := url.Values{}
	if s.Wait {
		query.Set("wait", strconv.FormatBool(true))
	}
	var retried struct {
		Archives []struct {
			Archive string `json:"archive_uri"`
			Task    string `json:"task_id"`
			Status  string `json:"status"`
		} `json:"retried"`
	}
	raw, err := s.inSession(ctx, client.Request{Method: http.MethodPost, Path: []string{"sessions", s.ID, "retry"}, Query: query}, &retried)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(raw)
	}
	if len(retried.Archives) == 0 {
		c.say("%s: there is nothing to try again", printable(s.ID))
		return nil
	}
	rows := &grid{heads: []string{"STATUS", "ARCHIVE", "TASK"}}
	for _, archive := range retried.Archives {
		rows.row(archive.Status, printable(archive.Archive), archive.Task)
	}
	c.table(rows.render(c.width))
	return nil
}
