package main

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
)

// confirmed shows on a terminal what would be erased, and asks whether to go on. The name of a user, a tenant or any
// other owner has to be typed.
func (e *eraseCommand) confirmed(ctx context.Context, c *console, server *client.Client) error {
	if !c.prompted || e.Yes {
		return nil
	}
	asking := *c
	asking.out, asking.styled, asking.json = c.err, colorprofile.NewWriter(c.err, os.Environ()), false
	if err := e.plan(ctx, &asking, server); err != nil {
		if asFailure(err).Code == exitNotFound {
			return nil // there is nothing to confirm, and erasing says why
		}
		return err
	}
	want, question := "y", "Erase it for good? [y/N] "
	if strings.Contains(e.What, ":") {
		want, question = e.What, fmt.Sprintf("This cannot be undone. Type %s to erase it: ", printable(e.What))
	}
	_, _ = fmt.Fprint(c.err, question)
	typed := make(chan string, 1)
	go func() { // a read cannot be interrupted: it ends with the process
		line, _ := bufio.NewReader(c.in).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == want || want == "y" && strings.EqualFold(line, "yes") {
			return nil
		}
		return &failure{Code: exitFailed, Detail: "not confirmed: nothing was erased", Fix: "--yes asks for no confirmation"}
	case <-ctx.Done():
		c.note("")
		return ctx.Err()
	}
}

// sayPurge says whether the files still hold what was erased, and until when.
func (e *eraseCommand) sayPurge(ctx context.Context, c *console, server *client.Client) {
	if c.json || e.Sweep || !e.erased {
		return
	}
	const now = "annals erase --sweep does it now"
	var status api.Erasures
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures"}}, &status)
	switch {
	case err != nil: // when exactly is for admins and auditors
		c.note("the files of the database may hold the text until the server purges it, by default within 24 hours")
	case status.Unswept == 0:
	case status.PurgeBy == nil:
		c.note("the text still lies in the files of the database\nthis server does not purge it by itself; %s", now)
	default:
		c.note("the text still lies in the files of the database\npurged by %s; %s", moment(*status.PurgeBy), now)
	}
}
