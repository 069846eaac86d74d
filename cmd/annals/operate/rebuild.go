package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type RebuildCommand struct {
	terminal.Remote

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
func (RebuildCommand) Help() string {
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
func (r *RebuildCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := r.Connect()
	if err != nil {
		return err
	}
	if (r.WhatIf || r.Repair || r.Confidence != "") && !r.builds() && !r.Plan {
		return terminal.Wrong("annals rebuild --help shows how", "--what-if, --repair and --confidence say what to build: they go with a rebuild or its --plan")
	}
	if r.Projection == "" {
		if r.builds() {
			return terminal.Wrong("annals rebuild knowledge; --plan says what it would take", "say which projection is to be computed anew")
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
		return r.change(ctx, c, server, "rollback", Versions.Switched, Versions.wayBack)
	case r.Retire:
		return r.change(ctx, c, server, "retire", Versions.left, func(Versions) string { return "its tables are dropped within a minute" })
	}
	return r.start(ctx, c, server)
}

// builds tells whether anything is asked for that builds a version.
func (r *RebuildCommand) builds() bool {
	return !r.Plan && !r.Status && !r.Watch && !r.History && !r.Cancel && !r.Rollback && !r.Retire
}

func (r *RebuildCommand) path(more ...string) []string {
	return append([]string{"v1", "projections", r.Projection}, more...)
}

func (r *RebuildCommand) start(ctx context.Context, c *terminal.Console, server *client.Client) error {
	var p RebuildPlan
	if !c.JSON {
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
	var begun Rebuild
	a, err := server.Do(ordering, client.Request{Method: http.MethodPost, Path: r.path("rebuild"), Query: r.order()}, &begun)
	if err != nil {
		return err
	}
	if !c.JSON {
		c.Note("%s", p)
	}
	if !r.NoWait {
		return r.wait(ctx, c, server, begun.Version)
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("building version %d of %s; watch it with: annals rebuild %s --watch", begun.Version, begun.Projection, begun.Projection)
	return nil
}

// plan is what a plan is for, order what a rebuild is for, as the API wants to be told.
func (r *RebuildCommand) plan() url.Values {
	query := url.Values{}
	if r.Confidence != "" {
		query.Set("confidence", r.Confidence)
	}
	return query
}

func (r *RebuildCommand) order() url.Values {
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
func (r *RebuildCommand) last(ctx context.Context, server *client.Client) (Rebuild, json.RawMessage, error) {
	var last Rebuild
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: r.path("rebuild")}, &last)
	if err != nil {
		return last, nil, err
	}
	return last, a.Body, nil
}

func (r *RebuildCommand) showPlan(ctx context.Context, c *terminal.Console, server *client.Client) error {
	var p RebuildPlan
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: r.path("rebuild", "plan"), Query: r.plan()}, &p)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("%s", p)
	return nil
}

func (r *RebuildCommand) cancel(ctx context.Context, c *terminal.Console, server *client.Client) error {
	var ended Rebuild
	a, err := server.Do(ctx, client.Request{Method: http.MethodDelete, Path: r.path("rebuild")}, &ended)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("version %d of %s is given up; version %d stays active", ended.Version, ended.Projection, ended.Active)
	return nil
}

// change does something to the versions, says what it has done, shows them, and says what comes then.
func (r *RebuildCommand) change(ctx context.Context, c *terminal.Console, server *client.Client, what string, did, then func(Versions) string) error {
	var list Versions
	a, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: r.path(what)}, &list)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("%s", did(list))
	c.Table(list.Render(c.Width))
	c.Note("%s", then(list))
	return nil
}

// showStatus shows the last rebuild and the versions there are. Never having rebuilt is a status, too.
func (r *RebuildCommand) showStatus(ctx context.Context, c *terminal.Console, server *client.Client) error {
	var all Versions
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "projections"}}, &all); err != nil {
		return err
	}
	list := all.of(r.Projection)
	last, raw, err := r.last(ctx, server)
	// A projection that is there may never have been rebuilt, or follow the log by itself.
	never := err != nil && len(list.Items) > 0 && (terminal.AsFailure(err).Code == terminal.ExitNotFound || terminal.AsFailure(err).Code == terminal.ExitRefused)
	if err != nil && !never {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"rebuild": raw, "versions": list.Raw})
	}
	c.Table(list.Render(c.Width))
	if never {
		c.Say("%s", terminal.AsFailure(err).Detail)
		return nil
	}
	c.Say("")
	return last.print(c)
}

func (p RebuildPlan) String() string {
	said := fmt.Sprintf("version %d of %s: %s items from %s events, about %s, about %s",
		p.Version, p.Projection, terminal.Counted(p.Streams), terminal.Counted(p.Events), terminal.BytesOf(p.Bytes), terminal.Lasting(p.Seconds))
	said += fmt.Sprintf("\nit needs about %s of disk meanwhile", terminal.BytesOf(p.Need))
	if p.Free != nil {
		said += fmt.Sprintf("; %s are free", terminal.BytesOf(*p.Free))
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
