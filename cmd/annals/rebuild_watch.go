package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/annals-kb/annals/client"
)

// A running rebuild is looked at often in its first moments, and then once a second.
const (
	firstLook    = 50 * time.Millisecond
	betweenLooks = time.Second
)

// wait watches a rebuild until it ends, and shows what became of it. A server that is away is waited
// for: the rebuild goes on when it is back.
func (r *rebuildCommand) wait(ctx context.Context, c *console, server *client.Client, version int) error {
	view := &rebuildView{c: c}
	now, raw, err := r.follow(ctx, server, view, version)
	view.end()
	if r.Watch && err == nil && view.doing == "" && !c.json {
		c.note("nothing is being rebuilt now; this is what became of the last one, which ended %s:", momentOf(now.UpdatedAt))
	}
	if ctx.Err() != nil && r.WhatIf && err != nil {
		return r.giveUp(ctx, server)
	}
	if err != nil {
		return err
	}
	if c.json {
		if err := c.document(raw); err != nil {
			return err
		}
	} else if err := now.print(c); err != nil {
		return err
	}
	switch now.State {
	case "active":
		if !c.json {
			c.note("%s", r.wayBack(ctx, server, now))
		}
	case "retired":
		if !now.seen() {
			return &failure{Code: exitFailed, Detail: joined(": ", now.name()+" was given up", now.Error)}
		}
	}
	return now.verdict()
}

// wayBack says how to undo the switch to a version, as far as that can be done still.
func (r *rebuildCommand) wayBack(ctx context.Context, server *client.Client, now rebuild) string {
	var all versions
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "projections"}}, &all)
	kept := slices.ContainsFunc(all.of(r.Projection).Items, func(v versionOf) bool { return v.State == "draining" })
	if err == nil && !kept {
		return "there is no way back: no version before it is kept any more"
	}
	return now.wayBack()
}

// giveUp ends a what-if that nobody waits for any more.
func (r *rebuildCommand) giveUp(ctx context.Context, server *client.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	var ended rebuild
	if _, err := server.Do(ctx, client.Request{Method: http.MethodDelete, Path: r.path("rebuild")}, &ended); err != nil {
		return err
	}
	return &failure{Code: exitFailed, Detail: fmt.Sprintf("interrupted: what was built of version %d of %s is thrown away", ended.Version, ended.Projection)}
}

// follow looks at a rebuild again and again until it has ended. Version 0 is whichever is running.
func (r *rebuildCommand) follow(ctx context.Context, server *client.Client, view *rebuildView, version int) (rebuild, json.RawMessage, error) {
	heard := time.Now()
	for pause := firstLook; ; pause = min(pause*3/2, betweenLooks) {
		now, raw, err := r.last(ctx, server)
		switch {
		case ctx.Err() != nil:
			return now, nil, stoppedWatching(r.Projection)
		case err != nil && asFailure(err).Code == exitUnavailable && time.Since(heard) < r.Patience:
			view.away(asFailure(err).Detail)
		case err != nil:
			return now, nil, err
		case version != 0 && now.Version != version:
			return now, nil, &failure{
				Code: exitFailed, Detail: fmt.Sprintf("version %d was followed by version %d meanwhile", version, now.Version),
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
	return &failure{
		Code:   exitFailed,
		Detail: "stopped watching: the rebuild of " + projection + " goes on",
		Fix:    fmt.Sprintf("annals rebuild %s --watch shows it again, --cancel gives it up", projection),
	}
}

// rebuildView shows how far a rebuild has come: a bar if somebody is watching, else a line for each
// phase, and now and then.
type rebuildView struct {
	c     *console
	doing string
	bar   *progressbar.ProgressBar
	said  time.Time
}

func (v *rebuildView) show(p rebuildProgress) {
	news := p.doing() != v.doing
	v.doing = p.doing()
	if v.c.watched {
		v.draw(p, news)
		return
	}
	if v.c.json || !news && time.Since(v.said) < betweenLines {
		return
	}
	v.said = time.Now()
	v.c.note("%s", p)
}

// away says, once, that the server is.
func (v *rebuildView) away(why string) {
	if v.doing == waiting {
		return
	}
	v.end()
	v.doing = waiting
	if !v.c.json {
		v.c.note("%s: waiting for it", why)
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
			progressbar.OptionSetWriter(v.c.err), progressbar.OptionThrottle(100*time.Millisecond),
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
