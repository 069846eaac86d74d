package operate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// ContainCommands are the commands about containments.
type ContainCommands struct {
	Apply   containCommand        `cmd:"" default:"withargs"`
	List    containListCommand    `cmd:""`
	Show    containShowCommand    `cmd:""`
	Release containReleaseCommand `cmd:""`
}

var containments = []string{"v1", "containments"}

// containCommand shows what is affected and, with --apply, quarantines it.
type containCommand struct {
	terminal.Writing

	IDs     []string `complete:"ids" field:"items" name:"id" arg:"" optional:""`
	Actor   string   `placeholder:"ENTITY"`
	Source  string   `placeholder:"NAME"`
	Session string   `placeholder:"OWNER/ID"`
	Since   string   `placeholder:"TIME"`
	WhatIf  bool     `xor:"what"`
	Apply   bool     `xor:"what"`
	Reason  string   `placeholder:"TEXT"`
	Undo    string   `xor:"what" placeholder:"CONTAINMENT"`
}

// patience is how long a server may take to contain or readmit a hundred thousand items.
const patience = 10 * time.Minute

func (r *containCommand) Run(ctx context.Context, c *terminal.Console) error {
	r.Timeout = max(r.Timeout, patience)
	if r.Undo != "" {
		if len(r.IDs) > 0 || r.Actor+r.Source+r.Session+r.Since != "" {
			return terminal.Wrong("as in annals contain --undo ID", "--undo undoes all of one containment")
		}
		return r.undo(ctx, c)
	}
	if r.Apply && r.Reason == "" {
		return terminal.Wrong(`add --reason "…": stewards and auditors read it`, "a containment needs a reason")
	}
	server, err := r.Connect()
	if err != nil {
		return err
	}
	tainted := api.Tainted{
		Items: r.IDs, Actor: r.Actor, Source: r.Source, Session: r.Session, Since: r.Since, WhatIf: r.WhatIf,
	}
	began := time.Now()
	var preview api.ContainmentPreview
	a, err := server.Do(ctx, client.Request{
		Method: http.MethodPost, Path: append(containments[:2:2], "preview"), Body: tainted,
	}, &preview)
	if err != nil || c.JSON && !r.Apply {
		if err == nil {
			err = c.Document(a.Body)
		}
		return err
	}
	if !c.JSON {
		showPreview(c, preview)
	}
	if !r.Apply {
		if preview.Items > 0 {
			c.Note(`nothing was changed: --apply --reason "…" quarantines them`)
		}
		return nil
	}
	if preview.Items > 1000 {
		c.Note("found in %s; quarantining %d items …", time.Since(began).Round(time.Millisecond), preview.Items)
	}
	var done api.Containment
	return r.Answer(ctx, c, client.Request{
		Method: http.MethodPost, Path: containments,
		Body: api.NewContainment{Tainted: tainted, Reason: r.Reason, Digest: preview.Digest},
	}, &done, func() error {
		c.Say("quarantined %s as %s", terminal.Several(done.Items, "item"), done.ID)
		c.Note("annals contain --undo %s undoes it; annals contain release %s ID releases one", done.ID, done.ID)
		return nil
	})
}

func (r *containCommand) undo(ctx context.Context, c *terminal.Console) error {
	var done api.Containment
	return r.Answer(ctx, c, client.Request{
		Method: http.MethodPost, Path: append(containments[:2:2], r.Undo, "undo"),
		Body: api.UndoContainment{Reason: r.Reason},
	}, &done, func() error {
		c.Say("undid %s: what was still quarantined is as before", done.ID)
		return nil
	})
}

func showPreview(c *terminal.Console, p api.ContainmentPreview) {
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(p.Why)) {
		why = append(why, fmt.Sprintf("%d %s", p.Why[reason], reason))
	}
	c.Say("%s affected: %s", terminal.Several(p.Items, "item"), cmp.Or(strings.Join(why, ", "), "none"))
	if p.Others > 0 {
		c.Say("%s more, of scopes that you may not contain", terminal.Several(p.Others, "item"))
	}
	if p.Already > 0 {
		c.Say("%s quarantined already", terminal.Several(p.Already, "item"))
	}
	if p.Votes > 0 {
		c.Say("%s on other items would not count any more", terminal.Several(p.Votes, "vote"))
	}
	if p.Revived > 0 {
		c.Say("%s that they superseded would come back", terminal.Several(p.Revived, "item"))
	}
	if p.Answers == nil {
		c.Say("answers that had them: receipts are off")
	} else {
		c.Say("%s had them, given to %s", terminal.Several(int(*p.Answers), "answer"),
			cmp.Or(strings.Join(p.Told, ", "), "nobody"))
	}
	showScopes(c, p.Scopes)
	showContained(c, p.Sample)
	if p.WhatIf == nil {
		return
	}
	c.Say("without what it wrote, %s would be active instead of %d",
		terminal.Several(p.WhatIf.Without, "item"), p.WhatIf.Active)
	best := terminal.NewTable("ID", "CONFIDENCE", "HELPFUL", "HARMFUL", "TITLE")
	for _, i := range p.WhatIf.Best {
		best.Row(i.ID, fmt.Sprintf("%.2f", i.Confidence), i.Helpful, i.Harmful, i.Title)
	}
	c.Table(best)
}

func showScopes(c *terminal.Console, scopes []api.ContainedScope) {
	if len(scopes) == 0 {
		return
	}
	rows := terminal.NewTable("SCOPE", "ITEMS")
	for _, s := range scopes {
		rows.Row(s.Scope, s.Items)
	}
	c.Table(rows)
}

func showContained(c *terminal.Console, items []api.ContainedItem) {
	if len(items) == 0 {
		return
	}
	rows := terminal.NewTable("ID", "WHY", "STATUS", "OWNER", "TITLE")
	rows.Spare = []string{"OWNER"}
	for _, i := range items {
		rows.Row(i.ID, i.Why, i.Status, i.Owner, i.Title)
	}
	c.Table(rows)
}

type containListCommand struct {
	terminal.Remote
	terminal.Tabular
}

func (l *containListCommand) Run(ctx context.Context, c *terminal.Console) error {
	var all api.Containments
	return l.Answer(ctx, c, client.Get(containments...), &all, func() error {
		if len(all.Items) == 0 {
			l.Empty(c, "none")
			return nil
		}
		rows := terminal.NewTable("ID", "WHEN", "BY", "ITEMS", "VOTES", "UNDONE", "REASON")
		rows.Spare = []string{"VOTES"}
		for _, one := range all.Items {
			rows.Row(one.ID, one.At, one.By, one.Items, one.Votes, one.UndoneAt, one.Reason)
		}
		return l.Show(c, rows)
	})
}

type containShowCommand struct {
	terminal.Remote

	Containment string `arg:""`
}

func (s *containShowCommand) Run(ctx context.Context, c *terminal.Console) error {
	var one api.Containment
	return s.Answer(ctx, c, client.Get(append(containments[:2:2], s.Containment)...), &one, func() error {
		c.Say("%s quarantined %s: %s", one.By, terminal.Several(one.Items, "item"), one.Reason)
		if one.UndoneAt != nil {
			c.Say("undone by %s", one.UndoneBy)
		}
		showScopes(c, one.Scopes)
		showContained(c, one.Sample)
		return nil
	})
}

type containReleaseCommand struct {
	terminal.Writing

	Containment string   `arg:""`
	IDs         []string `complete:"ids" field:"items" name:"id" arg:""`
	Reason      string   `placeholder:"TEXT"`
}

func (r *containReleaseCommand) Run(ctx context.Context, c *terminal.Console) error {
	var one api.Containment
	return r.Answer(ctx, c, client.Request{
		Method: http.MethodPost, Path: append(containments[:2:2], r.Containment, "release"),
		Body: api.ReleaseItems{Items: r.IDs, Reason: r.Reason},
	}, &one, func() error {
		c.Say("released %s", strings.Join(r.IDs, ", "))
		return nil
	})
}
