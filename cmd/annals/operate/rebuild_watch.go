package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// The intervals of polling a rebuild: short at first, then a second.
const (
	firstPoll    = 50 * time.Millisecond
	pollInterval = time.Second
)

// wait watches a rebuild until it ends, and shows its result. While the server is unavailable, it waits: the rebuild
// continues afterwards.
func (r *RebuildCommand) wait(ctx context.Context, c *terminal.Console, server *client.Client, version int) error {
	view := &rebuildView{progress: terminal.Watch(c, ""), c: c}
	last, raw, err := r.follow(ctx, server, view, version)
	view.progress.End()
	if ctx.Err() != nil && r.WhatIf && err != nil {
		return r.cancelWhatIf(ctx, server)
	}
	if err != nil {
		return err
	}
	if r.Watch && !view.seen && !c.JSON {
		c.Note("nothing is being rebuilt now; this is what became of the last one, which ended %s:", last.UpdatedAt)
	}
	if c.JSON {
		if err := c.Document(raw); err != nil {
			return err
		}
	} else if err := last.print(c); err != nil {
		return err
	}
	switch {
	case last.State == "active" && !c.JSON:
		c.Note("%s", r.wayBack(ctx, server, last))
	case last.State == "retired" && !last.whatIfEnded():
		detail := terminal.Joined(": ", last.name()+" was given up", last.Error)
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: detail}
	}
	return last.verdict()
}

// wayBack tells how to undo the switch to a version, if that is still possible.
func (r *RebuildCommand) wayBack(ctx context.Context, server *client.Client, last rebuild) string {
	versions, _, err := r.versions(ctx, server)
	kept := slices.ContainsFunc(versions, func(v api.Projection) bool { return v.State == "standby" })
	switch {
	case err == nil && !kept:
		return "there is no way back: no version before it is kept any more"
	case last.repaired():
		return fmt.Sprintf("there is no way back to version %d, which was wrong: it is dropped within a minute",
			last.Report.Against)
	}
	return fmt.Sprintf("go back with: annals rebuild %s --rollback; the version before is kept until the next rebuild, "+
		"or --retire",
		last.Projection)
}

// cancelWhatIf ends a what-if whose caller was interrupted.
func (r *RebuildCommand) cancelWhatIf(ctx context.Context, server *client.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	var ended api.Rebuild
	if _, err := server.Do(ctx, r.request(http.MethodDelete, "rebuild"), &ended); err != nil {
		return err
	}
	detail := fmt.Sprintf("interrupted: what was built of version %d of %s is thrown away", ended.Version,
		ended.Projection)
	return &terminal.Failure{Code: terminal.ExitFailed, Detail: detail}
}

// follow polls a rebuild until it has ended. Version 0 is the running one.
func (r *RebuildCommand) follow(
	ctx context.Context, server *client.Client, view *rebuildView, version int,
) (rebuild, json.RawMessage, error) {
	heard := time.Now()
	for pause := firstPoll; ; pause = min(pause*3/2, pollInterval) {
		last, raw, err := r.last(ctx, server)
		f := terminal.AsFailure(err)
		switch {
		case ctx.Err() != nil:
			return last, nil, stoppedWatching(r.Projection)
		case err != nil && f.Code == terminal.ExitUnavailable && time.Since(heard) < r.Patience:
			view.away(f.Detail)
		case err != nil:
			return last, nil, err
		case version != 0 && last.Version != version:
			return last, nil, &terminal.Failure{
				Code:   terminal.ExitFailed,
				Detail: fmt.Sprintf("version %d was followed by version %d meanwhile", version, last.Version),
				Fix:    "annals rebuild " + r.Projection + " --status",
			}
		case last.Progress == nil:
			return last, raw, nil
		default:
			version, heard = last.Version, time.Now()
			view.show(*last.Progress)
		}
		select {
		case <-ctx.Done():
			return last, nil, stoppedWatching(r.Projection)
		case <-time.After(pause):
		}
	}
}

func stoppedWatching(projection string) error {
	return &terminal.Failure{
		Code:   terminal.ExitFailed,
		Detail: "stopped watching: the rebuild of " + projection + " goes on",
		Fix:    fmt.Sprintf("annals rebuild %s --watch shows it again, --cancel gives it up", projection),
	}
}

// rebuildView shows the progress of a rebuild by phase.
type rebuildView struct {
	c        *terminal.Console
	progress *terminal.Progress
	seen     bool // the rebuild was running
	waiting  bool // the server is unavailable
}

func (v *rebuildView) show(p api.RebuildProgress) {
	v.seen, v.waiting = true, false
	done, total := p.Streams, p.Total
	switch p.Phase {
	case "verifying":
		done = p.Verified
	case "building":
	default:
		total = 0
	}
	v.progress.Show(p.Phase, progressOf(p), done, total)
}

// away reports once that the server is unavailable.
func (v *rebuildView) away(why string) {
	if !v.waiting && !v.c.JSON {
		v.progress.End()
		v.c.Note("%s: waiting for it", why)
	}
	v.seen, v.waiting = true, true
}

// progressOf formats the progress of a rebuild in one line.
func progressOf(p api.RebuildProgress) string {
	phases := map[string]string{
		"indexing": "building indexes", "building": "loading", "catching_up": "catching up", "ready": "switching",
	}
	items, rate, left := "", "", ""
	switch {
	case p.Phase == "building" && p.Total > 0:
		items = fmt.Sprintf("%s of %s items", humanize.Comma(p.Streams), humanize.Comma(p.Total))
	case p.Phase == "verifying":
		items = fmt.Sprintf("%s of %s items", humanize.Comma(p.Verified), humanize.Comma(max(p.Total, p.Verified)))
	case p.Phase == "catching_up" && p.Behind > 0:
		items = terminal.Several(int(p.Behind), "event") + " behind"
	}
	if p.Rate > 0 {
		rate = humanize.Comma(int64(p.Rate)) + " a second"
	}
	if p.SecondsLeft >= 1 {
		left = "about " + terminal.Lasting(p.SecondsLeft) + " left"
	}
	phase := phases[p.Phase]
	if phase == "" {
		phase = p.Phase
	}
	return terminal.Joined(": ", phase, terminal.Joined(" · ", items, rate, left))
}
