package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/annals-kb/annals/client"
)

type rebuildCommand struct {
	remote

	Projection string `arg:"" optional:"" complete:"projections" help:"Which projection: knowledge, which is meant where nothing is built, too; for --status and --retire also meaning, whose vectors of a model before are dropped then."`

	Plan     bool `xor:"what" help:"Only say what it would take: items, events, disk, time."`
	Status   bool `xor:"what" help:"Only say how far it has come, what became of the last one, and which versions there are."`
	Watch    bool `xor:"what" help:"Watch the one that is running until it ends."`
	History  bool `xor:"what" help:"Only say what happened to it, stage by stage, and who asked for it."`
	Cancel   bool `xor:"what" help:"Give the running one up, and drop what it has built."`
	Rollback bool `xor:"what" help:"Read the version again that was active before. Nothing is lost; done twice, it is undone."`
	Retire   bool `xor:"what" help:"Drop the version that was active before: there is no way back then."`

	Repair     bool   `help:"The version that is read is known to be wrong, as annals verify --answers finds out: switch to what the log says, however the two differ."`
	WhatIf     bool   `help:"Build it beside the version that is read, say whose confidence and which answers would change, and throw it away."`
	Confidence string `complete:"policies" placeholder:"NAME" help:"The confidence policy to compute with, such as half-discounted/1 or wilson/1; that of the active version unless told."`

	NoWait   bool          `help:"Return as soon as it has begun."`
	Patience time.Duration `least:"0s" default:"30s" help:"How long to wait for a server that is away, such as for a restart: the rebuild goes on when it is back."`
}

// answerWithin bounds the wait for an answer that an interrupt does not end.
const answerWithin = 30 * time.Second

// Help implements kong.HelpProvider.
func (rebuildCommand) Help() string {
	return `Computes the projection anew from the log as the running server would compute it today, beside the version that
is read. Everybody keeps working. The new version is switched to only if it is what an independent fold of the log
gives, and differs from the old one in nothing but what the change means to change. The old one is kept and written
until the next rebuild, or until --retire, so that --rollback loses nothing.

Ctrl-C stops watching, not the rebuild; but a what-if ends with whoever asks. Exit code 1 says that it failed and everything is as before, 4 that one is
running already.

Examples:

    annals rebuild knowledge --plan
    annals rebuild knowledge
    annals rebuild knowledge --no-wait && annals rebuild knowledge --watch
    annals rebuild knowledge --what-if --confidence wilson/1
    annals rebuild knowledge --repair
    annals rebuild knowledge --rollback
    annals rebuild knowledge --history`
}

// Run implements the command.
func (r *rebuildCommand) Run(ctx context.Context, c *console) error {
	server, err := r.connect()
	if err != nil {
		return err
	}
	if (r.WhatIf || r.Repair || r.Confidence != "") && !r.builds() && !r.Plan {
		return wrong("annals rebuild --help shows how", "--what-if, --repair and --confidence say what to build: they go with a rebuild or its --plan")
	}
	if r.Projection == "" {
		if r.builds() {
			return wrong("annals rebuild knowledge; --plan says what it would take", "say which projection is to be computed anew")
		}
		r.Projection = "knowledge"
	}
	switch {
	case r.Plan:
		return r.showPlan(ctx, c, server)
	case r.Status:
		return r.showStatus(ctx, c, server)
	case r.Watch:
		return r.wait(ctx, c, server, 0)
	case r.History:
		return r.showHistory(ctx, c, server)
	case r.Cancel:
		return r.cancel(ctx, c, server)
	case r.Rollback:
		return r.change(ctx, c, server, "rollback", versions.switched, versions.wayBack)
	case r.Retire:
		return r.change(ctx, c, server, "retire", versions.left, func(versions) string { return "its tables are dropped within a minute" })
	}
	return r.start(ctx, c, server)
}

// builds tells whether anything is asked for that builds a version.
func (r *rebuildCommand) builds() bool {
	return !r.Plan && !r.Status && !r.Watch && !r.History && !r.Cancel && !r.Rollback && !r.Retire
}

func (r *rebuildCommand) path(more ...string) []string {
	return append([]string{"v1", "projections", r.Projection}, more...)
}

func (r *rebuildCommand) start(ctx context.Context, c *console, server *client.Client) error {
	var p rebuildPlan
	if !c.json {
		if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: r.path("rebuild", "plan"), Query: r.plan()}, &p); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// What is on its way is waited for: whoever interrupts it there is told what became of it, and ends a what-if.
	ordering, end := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer end()
	var begun rebuild
	a, err := server.Do(ordering, client.Request{Method: http.MethodPost, Path: r.path("rebuild"), Query: r.order()}, &begun)
	if err != nil {
		return err
	}
	if !c.json {
		c.note("%s", p)
	}
	if !r.NoWait {
		return r.wait(ctx, c, server, begun.Version)
	}
	if c.json {
		return c.document(a.Body)
	}
	c.say("building version %d of %s; watch it with: annals rebuild %s --watch", begun.Version, begun.Projection, begun.Projection)
	return nil
}

// plan is what a plan is for, order what a rebuild is for, as the API wants to be told.
func (r *rebuildCommand) plan() url.Values {
	query := url.Values{}
	if r.Confidence != "" {
		query.Set("confidence", r.Confidence)
	}
	return query
}

func (r *rebuildCommand) order() url.Values {
	query := r.plan()
	if r.WhatIf {
		query.Set("what_if", "true")
	}
	if r.Repair {
		query.Set("repair", "true")
	}
	return query
}

// last asks for the rebuild that is running, or for the last one.
func (r *rebuildCommand) last(ctx context.Context, server *client.Client) (rebuild, json.RawMessage, error) {
	var last rebuild
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: r.path("rebuild")}, &last)
	if err != nil {
		return last, nil, err
	}
	return last, a.Body, nil
}

func (r *rebuildCommand) showPlan(ctx context.Context, c *console, server *client.Client) error {
	var p rebuildPlan
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: r.path("rebuild", "plan"), Query: r.plan()}, &p)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(a.Body)
	}
	c.say("%s", p)
	return nil
}

func (r *rebuildCommand) cancel(ctx context.Context, c *console, server *client.Client) error {
	var ended rebuild
	a, err := server.Do(ctx, client.Request{Method: http.MethodDelete, Path: r.path("rebuild")}, &ended)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(a.Body)
	}
	c.say("version %d of %s is given up; version %d stays active", ended.Version, ended.Projection, ended.Active)
	return nil
}

// change does something to the versions, says what it has done, shows them, and says what comes then.
func (r *rebuildCommand) change(ctx context.Context, c *console, server *client.Client, what string, did, then func(versions) string) error {
	var list versions
	a, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: r.path(what)}, &list)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(a.Body)
	}
	c.say("%s", did(list))
	c.table(list.render(c.width))
	c.note("%s", then(list))
	return nil
}

// showStatus shows the last rebuild and the versions there are. Never having rebuilt is a status, too.
func (r *rebuildCommand) showStatus(ctx context.Context, c *console, server *client.Client) error {
	var all versions
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "projections"}}, &all); err != nil {
		return err
	}
	list := all.of(r.Projection)
	last, raw, err := r.last(ctx, server)
	// A projection that is there may never have been rebuilt, or follow the log by itself.
	never := err != nil && len(list.Items) > 0 && (asFailure(err).Code == exitNotFound || asFailure(err).Code == exitRefused)
	if err != nil && !never {
		return err
	}
	if c.json {
		return c.document(map[string]any{"rebuild": raw, "versions": list.Raw})
	}
	c.table(list.render(c.width))
	if never {
		c.say("%s", asFailure(err).Detail)
		return nil
	}
	c.say("")
	return last.print(c)
}

func (p rebuildPlan) String() string {
	said := fmt.Sprintf("version %d of %s: %s items from %s events, about %s, about %s",
		p.Version, p.Projection, counted(p.Streams), counted(p.Events), bytesOf(p.Bytes), lasting(p.Seconds))
	said += fmt.Sprintf("\nit needs about %s of disk meanwhile", bytesOf(p.Need))
	if p.Free != nil {
		said += fmt.Sprintf("; %s are free", bytesOf(*p.Free))
	}
	if len(p.Intended) > 0 {
		intended := make([]string, len(p.Intended))
		for i, column := range p.Intended {
			intended[i] = computed(column)
		}
		said += fmt.Sprintf("\nwill differ from version %d: %s", p.Active, strings.Join(intended, ", "))
	}
	return said
}
