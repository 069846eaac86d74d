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

	Projection string `arg:"" optional:"" complete:"projections"`

	Plan     bool `xor:"what"`
	Status   bool `xor:"what"`
	Watch    bool `xor:"what"`
	History  bool `xor:"what"`
	Cancel   bool `xor:"what"`
	Rollback bool `xor:"what"`
	Retire   bool `xor:"what"`

	Repair     bool
	WhatIf     bool
	Confidence string `complete:"policies" placeholder:"NAME"`

	NoWait   bool
	Patience time.Duration `least:"0s" default:"30s"`
}

// answerWithin bounds the wait for an answer that an interrupt does not end.
const answerWithin = 30 * time.Second

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
