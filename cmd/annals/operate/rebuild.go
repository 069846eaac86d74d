package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type RebuildCommand struct {
	terminal.Remote

	Projection string `arg:"" optional:"" complete:"projections"`

	Plan     bool `xor:"what"`
	Status   bool `xor:"what"`
	Watch    bool `xor:"what"`
	Cancel   bool `xor:"what"`
	Rollback bool `xor:"what"`
	Retire   bool `xor:"what"`

	Repair     bool
	WhatIf     bool
	Confidence string `complete:"policies" placeholder:"NAME"`

	NoWait   bool
	Patience time.Duration `least:"0s" default:"30s"`
}

// answerWithin limits the wait for an answer that an interrupt does not end.
const answerWithin = 30 * time.Second

func (r *RebuildCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := r.Connect()
	if err != nil {
		return err
	}
	builds := !r.Plan && !r.Status && !r.Watch && !r.Cancel && !r.Rollback && !r.Retire
	if (r.WhatIf || r.Repair || r.Confidence != "") && !builds && !r.Plan {
		return terminal.Wrong("annals rebuild --help shows how",
			"--what-if, --repair and --confidence say what to build: they go with a rebuild or its --plan")
	}
	if r.Projection == "" {
		if builds {
			return terminal.Wrong("annals rebuild knowledge; --plan says what it would take",
				"say which projection is to be rebuilt")
		}
		r.Projection = "knowledge"
	}
	switch {
	case r.Plan:
		var p api.RebuildPlan
		return r.Answer(ctx, c, r.planned(), &p, func() error {
			printPlan(c.Say, p)
			return nil
		})
	case r.Status:
		return r.showStatus(ctx, c, server)
	case r.Watch:
		return r.wait(ctx, c, server, 0)
	case r.Cancel:
		var ended api.Rebuild
		return r.Answer(ctx, c, r.request(http.MethodDelete, "rebuild"), &ended, func() error {
			c.Say("version %d of %s is given up; version %d stays active", ended.Version, ended.Projection, ended.Active)
			return nil
		})
	case r.Rollback, r.Retire:
		return r.change(ctx, c)
	}
	return r.start(ctx, c, server)
}

// request is a request to a path of the projection.
func (r *RebuildCommand) request(method string, more ...string) client.Request {
	return client.Request{
		Method: method, Path: append([]string{"v1", "projections", r.Projection}, more...),
		Query: url.Values{},
	}
}

func (r *RebuildCommand) planned() client.Request {
	q := r.request(http.MethodGet, "rebuild", "plan")
	terminal.Put(q.Query, "confidence", r.Confidence)
	return q
}

func (r *RebuildCommand) start(ctx context.Context, c *terminal.Console, server *client.Client) error {
	var p api.RebuildPlan
	if !c.JSON {
		if _, err := server.Do(ctx, r.planned(), &p); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	q := r.request(http.MethodPost, "rebuild")
	terminal.Put(q.Query, "confidence", r.Confidence)
	if r.WhatIf {
		q.Query.Set("what_if", "true")
	}
	if r.Repair {
		q.Query.Set("repair", "true")
	}
	// An interrupt must not end this request: its answer names the rebuild to cancel.
	ordering, end := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer end()
	var begun api.Rebuild
	a, err := server.Do(ordering, q, &begun)
	if err != nil {
		return err
	}
	if !c.JSON {
		printPlan(c.Note, p)
	}
	if !r.NoWait {
		return r.wait(ctx, c, server, begun.Version)
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	c.Say("building version %d of %s; watch it with: annals rebuild %s --watch", begun.Version, begun.Projection,
		begun.Projection)
	return nil
}

// printPlan shows the estimate of a rebuild.
func printPlan(say func(string, ...any), p api.RebuildPlan) {
	say("version %d of %s: %s items from %s events, about %s, about %s", p.Version, p.Projection,
		humanize.Comma(p.Streams), humanize.Comma(p.Events), humanize.IBytes(uint64(p.Bytes)), terminal.Lasting(p.Seconds))
	free := ""
	if p.Free != nil {
		free = fmt.Sprintf("; %s are free", humanize.IBytes(uint64(*p.Free)))
	}
	say("it needs about %s of disk meanwhile%s", humanize.IBytes(uint64(p.Need)), free)
	if len(p.Intended) > 0 {
		intended := make([]string, len(p.Intended))
		for i, column := range p.Intended {
			intended[i] = columnName(column)
		}
		say("will differ from version %d: %s", p.Active, strings.Join(intended, ", "))
	}
}

// change activates or retires the previous version, and shows the versions.
func (r *RebuildCommand) change(ctx context.Context, c *terminal.Console) error {
	what := "rollback"
	if r.Retire {
		what = "retire"
	}
	var list api.Projections
	return r.Answer(ctx, c, r.request(http.MethodPost, what), &list, func() error {
		active, kept := inUse(list.Items)
		if r.Retire {
			c.Say("the version before is given up; version %d is active, as before", active)
		} else {
			c.Say("version %d is active again; version %d is still written", active, kept)
		}
		c.Table(versionTable(list.Items))
		direction := "roll forward"
		if kept < active {
			direction = "go back"
		}
		if r.Retire {
			c.Note("its tables are dropped within a minute")
		} else {
			c.Note("%s again with: annals rebuild knowledge --rollback", direction)
		}
		return nil
	})
}

// inUse are the active version and the one for a rollback; 0 if there is none.
func inUse(versions []api.Projection) (active, kept int) {
	var since time.Time
	for _, v := range versions {
		switch {
		case v.State == "active":
			active = v.Version
		case v.State == "standby" && terminal.OrZero(v.UpdatedAt).After(since): // older ones are about to be retired
			kept, since = v.Version, terminal.OrZero(v.UpdatedAt)
		}
	}
	return active, kept
}

func versionTable(versions []api.Projection) *terminal.Table {
	rows := terminal.NewTable("VERSION", "STATE", "SINCE", "COMPUTED WITH")
	_, kept := inUse(versions)
	for _, v := range versions {
		var settings []string
		for _, name := range slices.Sorted(maps.Keys(v.Settings)) {
			settings = append(settings, name+" "+v.Settings[name])
		}
		state := v.State
		switch {
		case v.WhatIf:
			state += " (what-if)"
		case state == "standby" && v.Version == kept:
			state += " (still written, for --rollback)"
		case state == "standby":
			state += " (still written for a moment)"
		}
		rows.Row(v.Version, state, v.UpdatedAt, terminal.Joined("\n", strings.Join(settings, " · "), v.Error))
	}
	return rows
}

// last reads the running rebuild, or else the last one.
func (r *RebuildCommand) last(
	ctx context.Context, server *client.Client,
) (last rebuild, raw json.RawMessage, err error) {
	a, err := server.Do(ctx, r.request(http.MethodGet, "rebuild"), &last)
	if err != nil {
		return last, nil, err
	}
	return last, a.Body, nil
}

// versions are the versions of the projection, decoded and as JSON.
func (r *RebuildCommand) versions(
	ctx context.Context, server *client.Client,
) ([]api.Projection, []json.RawMessage, error) {
	var list api.Short[terminal.Kept[api.Projection]]
	if _, err := server.Do(ctx, client.Get("v1", "projections"), &list); err != nil {
		return nil, nil, err
	}
	versions, raw := []api.Projection{}, []json.RawMessage{}
	for _, v := range list.Items {
		if v.Value.Name == r.Projection {
			versions, raw = append(versions, v.Value), append(raw, v.Raw)
		}
	}
	return versions, raw, nil
}

// showStatus shows the last rebuild, if any, and the versions.
func (r *RebuildCommand) showStatus(ctx context.Context, c *terminal.Console, server *client.Client) error {
	versions, raw, err := r.versions(ctx, server)
	if err != nil {
		return err
	}
	last, lastRaw, err := r.last(ctx, server)
	never := err != nil && len(versions) > 0 && isForOthers(err)
	if err != nil && !never {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"rebuild": lastRaw, "versions": raw})
	}
	c.Table(versionTable(versions))
	if never {
		c.Say("%s", terminal.AsFailure(err).Detail)
		return nil
	}
	c.Say("")
	return last.print(c)
}
