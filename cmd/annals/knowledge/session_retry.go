package knowledge

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type sessionRetryCommand struct {
	terminal.Remote

	ID   string `complete:"sessions" arg:""`
	Wait bool
}

// Run implements the command.
func (s *sessionRetryCommand) Run(ctx context.Context, c *terminal.Console) error {
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
	raw, err := inSession(ctx, s.Remote, client.Request{Method: http.MethodPost, Path: []string{"sessions", s.ID, "retry"}, Query: query}, &retried)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(raw)
	}
	if len(retried.Archives) == 0 {
		c.Say("%s: there is nothing to try again", terminal.Printable(s.ID))
		return nil
	}
	rows := &terminal.Grid{Heads: []string{"STATUS", "ARCHIVE", "TASK"}}
	for _, archive := range retried.Archives {
		rows.Row(archive.Status, terminal.Printable(archive.Archive), archive.Task)
	}
	c.Table(rows.Render(c.Width))
	return nil
}
