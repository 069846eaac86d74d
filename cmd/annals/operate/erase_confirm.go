package operate

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// confirmed shows on a terminal what would be erased, and asks whether to go on. The name of a user, a tenant or any
// other owner has to be typed.
func (e *EraseCommand) confirmed(ctx context.Context, c *terminal.Console, server *client.Client) error {
	if !c.Prompted || e.Yes {
		return nil
	}
	asking := *c
	asking.Out, asking.Styled, asking.JSON = c.Err, colorprofile.NewWriter(c.Err, os.Environ()), false
	if err := e.plan(ctx, &asking, server); err != nil {
		if terminal.AsFailure(err).Code == terminal.ExitNotFound {
			return nil // there is nothing to confirm, and erasing says why
		}
		return err
	}
	want, question := "y", "Erase it for good? [y/N] "
	if strings.Contains(e.What, ":") {
		want, question = e.What, fmt.Sprintf("This cannot be undone. Type %s to erase it: ", terminal.Printable(e.What))
	}
	_, _ = fmt.Fprint(c.Err, question)
	typed := make(chan string, 1)
	go func() { // a read cannot be interrupted: it ends with the process
		line, _ := bufio.NewReader(c.In).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == want || want == "y" && strings.EqualFold(line, "yes") {
			return nil
		}
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: "not confirmed: nothing was erased", Fix: "--yes asks for no confirmation"}
	case <-ctx.Done():
		c.Note("")
		return ctx.Err()
	}
}

// sayPurge says whether the files still hold what was erased, and until when.
func (e *EraseCommand) sayPurge(ctx context.Context, c *terminal.Console, server *client.Client) {
	if c.JSON || e.Sweep || !e.erased {
		return
	}
	const now = "annals erase --sweep does it now"
	var status api.Erasures
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures"}}, &status)
	switch {
	case err != nil: // when exactly is for admins and auditors
		c.Note("the files of the database may hold the text until the server purges it, by default within 24 hours")
	case status.Unswept == 0:
	case status.PurgeBy == nil:
		c.Note("the text still lies in the files of the database\nthis server does not purge it by itself; %s", now)
	default:
		c.Note("the text still lies in the files of the database\npurged by %s; %s", terminal.Moment(*status.PurgeBy), now)
	}
}
