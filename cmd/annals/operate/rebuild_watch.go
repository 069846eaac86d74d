package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// A running rebuild is looked at often in its first moments, and then once a second.
const (
	firstLook    = 50 * time.Millisecond
	betweenLooks = time.Second
)

// wait watches a rebuild until it ends, and shows what became of it. A server that is away is waited
// for: the rebuild goes on when it is back.
func (r *RebuildCommand) wait(ctx context.Context, c *terminal.Console, server *client.Client, version int) error {
	view := &rebuildView{c: c}
	now, raw, err := r.follow(ctx, server, view, version)
	view.end()
	if r.Watch && err == nil && view.doing == "" && !c.JSON {
		c.Note("nothing is being rebuilt now; this is what became of the last one, which ended %s:", terminal.MomentOf(now.UpdatedAt))
	}
	if ctx.Err() != nil && r.WhatIf && err != nil {
		return r.giveUp(ctx, server)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		if err := c.Document(raw); err != nil {
			return err
		}
	} else if err := now.print(c); err != nil {
		return err
	}
	switch now.State {
	case "active":
		if !c.JSON {
			c.Note("%s", r.wayBack(ctx, server, now))
		}
	case "retired":
		if !now.seen() {
			return &terminal.Failure{Code: terminal.ExitFailed, Detail: terminal.Joined(": ", now.name()+" was given up", now.Error)}
		}
	}
	return now.verdict()
}

// wayBack says how to undo the switch to a version, as far as that can be done still.
func (r *RebuildCommand) wayBack(ctx context.Context, server *client.Client, now Rebuild) string {
	var all Versions
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "projections"}}, &all)
	kept := slices.ContainsFunc(all.of(r.Projection).Items, func(v VersionOf) bool { return v.State == "draining" })
	if err == nil && !kept {
		return "there is no way back: no version before it is kept any more"
	}
	return now.wayBack()
}

// giveUp ends a what-if that nobody waits for any more.
func (r *RebuildCommand) giveUp(ctx context.Context, server *client.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	var ended Rebuild
	if _, err := server.Do(ctx, client.Request{Method: http.MethodDelete, Path: r.path("rebuild")}, &ended); err != nil {
		return err
	}
	return &terminal.Failure{Code: terminal.ExitFailed, Detail: fmt.Sprintf("interrupted: what was built of version %d of %s is thrown away", ended.Version, ended.Projection)}
}

// follow looks at a rebuild again and again until it has ended. Version 0 is whichever is running.
func (r *RebuildCommand) follow(ctx context.Context, server *client.Client, view *rebuildView, version int) (Rebuild, json.RawMessage, error) {
	heard := time.Now()
	for pause := firstLook; ; pause = min(pause*3/2, betweenLooks) {
		now, raw, err := r.last(ctx, server)
		switch {
		case ctx.Err() != nil:
			return now, nil, stoppedWatching(r.Projection)
		case err != nil && terminal.AsFailure(err).Code == terminal.ExitUnavailable && time.Since(heard) < r.Patience:
			view.away(terminal.AsFailure(err).Detail)
		case err != nil:
			return now, nil, err
		case version != 0 && now.Version != version:
			return now, nil, &terminal.Failure{
				Code: terminal.ExitFailed, Detail: fmt.Sprintf("version %d was followed by version %d meanwhile", version, now.Version),
				Fix: "annals rebuild " + r.Projection + " --status",
			}
		case now.Progress == nil:
			return now, raw, nil
		default:
			version, heard = now.Version, time.Now()
			view.show(rebuildProgress(*now.Progress))
		}
		select {
		case <-ctx.Done():
			return now, nil, stoppedWatching(r.Projection)
		case <-time.After(pause):
		}
	}
}

// stoppedWatching says that nothing else has stopped.
func stoppedWatching(projection string) error {
	return &terminal.Failure{
		Code:   terminal.ExitFailed,
		Detail: "stopped watching: the rebuild of " + projection + " goes on",
		Fix:    fmt.Sprintf("annals rebuild %s --watch shows it again, --cancel gives it up", projection),
	}
}

// rebuildView shows how far a rebuild has come: a bar if somebody is watching, else a line for each
// phase, and now and then.
type rebuildView struct {
	c     *terminal.Console
	doing string
	bar   *progressbar.ProgressBar
	said  time.Time
}

func (v *rebuildView) show(p rebuildProgress) {
	news := p.doing() != v.doing
	v.doing = p.doing()
	if v.c.Watched {
		v.draw(p, news)
		return
	}
	if v.c.JSON || !news && time.Since(v.said) < terminal.BetweenLines {
		return
	}
	v.said = time.Now()
	v.c.Note("%s", p)
}

// away says, once, that the server is.
func (v *rebuildView) away(why string) {
	if v.doing == waiting {
		return
	}
	v.end()
	v.doing = waiting
	if !v.c.JSON {
		v.c.Note("%s: waiting for it", why)
	}
}

// waiting is what a view does while the server is away.
const waiting = "waiting"

// draw moves the bar; each phase has its own.
func (v *rebuildView) draw(p rebuildProgress, news bool) {
	done, total := p.Streams, p.Total
	switch p.doing() {
	case "verifying":
		done = p.Verified
	case "building indexes", "catching up", "switching":
		total = -1
	}
	if news {
		v.end()
		v.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(v.c.Err), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		)
	}
	if total > 0 { // a bar that cannot be drawn stops nothing
		_ = v.bar.Set64(min(done, total))
	} else {
		_ = v.bar.Add(1)
	}
	v.bar.Describe(p.String())
}

// end takes the bar away.
func (v *rebuildView) end() {
	if v.bar != nil {
		_ = v.bar.Finish()
		v.bar = nil
	}
}
