package agents

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// Import stores what was said to coding agents in a file or folder, or only shows it; false if it has no sessions.
func Import(ctx context.Context, c *terminal.Console, to *terminal.Remote, root string, dryRun bool) (bool, error) {
	all, err := sessions(root)
	if err != nil || len(all) == 0 {
		return false, nil //nolint:nilerr // reading it otherwise reports the error
	}
	server, err := to.Connect()
	if err != nil {
		return true, err
	}
	s := struct {
		Sessions []*Session        `json:"sessions"`
		Stored   int               `json:"stored"` // messages that the server did not have
		Messages int               `json:"messages"`
		Unread   []markdown.Unread `json:"unread,omitempty"`
	}{Sessions: []*Session{}}
	table := terminal.NewTable("SESSION", "DATE", "MESSAGES", "BEGINS")
	progress := terminal.Watch(c, "importing sessions")
	defer progress.End()
	unread := map[string]error{}
	for n := range all {
		if err := all[n].Read(); err != nil {
			unread[all[n].Path] = err
		}
	}
	byDate := func(x, y Session) int { return cmp.Compare(x.At, y.At) } // later ones correct earlier ones
	slices.SortStableFunc(all, byDate)
	for n := range all {
		session := &all[n]
		err := unread[session.Path]
		if err == nil && !dryRun {
			session.Stored, err = session.Store(ctx, server)
			s.Stored += session.Stored
		}
		if failure := terminal.AsFailure(err); err != nil && (ctx.Err() != nil || failure.Code == terminal.ExitUnavailable) {
			failure.Fix = terminal.Joined(", then ", failure.Fix, "run the same command again: nothing is stored twice")
			return true, failure
		} else if err != nil {
			s.Unread = append(s.Unread, markdown.Unread{File: session.Path, Why: err.Error()})
			continue
		}
		s.Sessions, s.Messages = append(s.Sessions, session), s.Messages+session.Count
		table.Row(session.ID, session.At[:min(len(session.At), len(time.DateOnly))], strconv.Itoa(session.Count),
			strings.Join(strings.Fields(session.About), " "))
		progress.Set(int64(n+1), int64(len(all)))
	}
	progress.End()
	if c.JSON {
		return true, c.Document(s)
	}
	what := terminal.Several(len(s.Sessions), "session") + " with " + terminal.Several(s.Messages, "message")
	const shared = "Lessons about work reach those whom annals session learned-for says, by default everyone."
	if markdown.PrintUnread(c, s.Unread); dryRun {
		c.Table(table)
		c.Say("\n%s. Nothing is written yet: leave --dry-run out.\n%s", what, shared)
		return true, nil
	}
	c.Say("%s: %d stored", what, s.Stored)
	if s.Stored > 0 {
		c.Say("annals learns from them in the background. %s", shared)
	}
	return true, nil
}
