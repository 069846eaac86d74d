package agents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/client"
)

// InstallCommand connects the agents of this machine.
type InstallCommand struct {
	terminal.Remote

	Only   []string `placeholder:"HOST"`
	DryRun bool
}

// UninstallCommand takes back what InstallCommand has written.
type UninstallCommand struct {
	DryRun bool
}

// planned is a file in the answer.
type planned struct {
	Host    string   `json:"host"`
	File    string   `json:"file"`
	Changes []string `json:"changes"`
	Outcome string   `json:"outcome"` // new, changed, unchanged or removed
}

func (i *InstallCommand) Run(ctx context.Context, c *terminal.Console) error {
	m, err := thisMachine()
	if err != nil {
		return err
	}
	chosen, absent, err := i.choose(m)
	if err != nil {
		return err
	}
	settings, err := i.settings(ctx, c, m)
	if err != nil {
		return err
	}
	a, err := i.access(m, chosen)
	if err != nil {
		return err
	}
	plan, notes := newPlan(), []string(nil)
	plan.add("Annals", settings)
	for _, h := range chosen {
		plan.add(h.name, h.changes(h.home(m), a))
		if h.note != "" {
			notes = append(notes, h.name+": "+h.note)
		}
	}
	if err := plan.edit(edit.put); err != nil {
		return err
	}
	recorded, all, err := m.records()
	if err != nil {
		return err
	}
	var changed []*file
	for _, f := range plan.files {
		if !f.changed() {
			continue
		}
		changed = append(changed, f)
		was, known := all[f.path]
		if !known || !was.untouched(f) {
			was = record{Path: f.path, Created: !f.exists}
			if f.exists {
				if was.Before, err = f.without(); err != nil {
					return err
				}
			}
		}
		was.After = hashOf(f.after)
		all[f.path] = was
	}
	if len(changed) > 0 && !i.DryRun {
		setRecords(recorded, all)
		if err := writeAll(append([]*file{recorded}, changed...), func(*file) bool { return true }); err != nil {
			return err
		}
	}
	return plan.print(c, m, i.DryRun, absent, func() {
		if len(changed) == 0 {
			return
		}
		c.Say("\nStart the agents anew. annals uninstall takes all of this back.")
		for _, note := range notes {
			c.Say("%s.", note)
		}
	})
}

// choose returns the hosts that are on this machine, or those that are named, and the names of the others.
func (i *InstallCommand) choose(m machine) (chosen []host, absent []string, err error) {
	for _, id := range i.Only {
		if !slices.Contains(ids(), id) {
			return nil, nil, terminal.Wrong("choose of "+strings.Join(ids(), ", "), "there is no host %s", terminal.Printable(id))
		}
	}
	for _, h := range hosts {
		info, err := os.Stat(h.home(m))
		found := err == nil && info.IsDir()
		switch {
		case slices.Contains(i.Only, h.id), len(i.Only) == 0 && found:
			chosen = append(chosen, h)
		case !found:
			absent = append(absent, h.name)
		}
	}
	if len(chosen) == 0 {
		return nil, nil, terminal.Wrong("name one that you will install with --only HOST: "+strings.Join(ids(), ", "),
			"no agent was found in %s", m.user)
	}
	return chosen, absent, nil
}

// settings are the changes of the program's own configuration, by which every agent finds a server that is named.
func (i *InstallCommand) settings(ctx context.Context, c *terminal.Console, m machine) ([]change, error) {
	if i.Server == terminal.DefaultServer && i.APIKey == "" {
		return nil, nil
	}
	server, err := i.Connect()
	if err != nil {
		return nil, err
	}
	if _, err := server.Do(ctx, client.Get("v1", "whoami"), &struct{}{}); err != nil {
		return nil, err
	}
	file := cmp.Or(c.Settings.File, filepath.Join(m.config, "annals", "annals.yaml"))
	all := []change{{file, "server", yamlEdit{[]string{"server"}, i.Server}}}
	if i.APIKey != "" {
		all = append(all, change{file, "key", yamlEdit{[]string{"api-key"}, i.APIKey}})
	}
	return all, nil
}

// access is how the hosts reach Annals. Without a key, an agent says itself who it is.
func (i *InstallCommand) access(m machine, chosen []host) (access, error) {
	program, err := os.Executable()
	a := access{machine: m, program: program}
	for _, h := range chosen {
		a.others = append(a.others, h.id)
	}
	if i.As != "" {
		a.args = append(a.args, "--as", i.As)
	}
	if i.OnBehalfOf != "" {
		a.args = append(a.args, "--on-behalf-of", i.OnBehalfOf)
	}
	return a, err
}

func (u *UninstallCommand) Run(_ context.Context, c *terminal.Console) error {
	m, err := thisMachine()
	if err != nil {
		return err
	}
	recorded, all, err := m.records()
	if err != nil {
		return err
	}
	plan := newPlan()
	for _, h := range hosts {
		var present []change
		for _, change := range h.changes(h.home(m), access{machine: m}) {
			if exists(change.file) {
				present = append(present, change)
			}
		}
		plan.add(h.name, present)
	}
	own := cmp.Or(c.Settings.File, filepath.Join(m.config, "annals", "annals.yaml"))
	if f, err := open(own); err == nil && all[f.path].untouched(f) {
		plan.add("Annals", []change{
			{own, "server", yamlEdit{path: []string{"server"}}}, {own, "key", yamlEdit{path: []string{"api-key"}}},
		})
	}
	var edits []*file
	for _, f := range plan.files {
		if f.after = f.before; !all[f.path].untouched(f) && bytes.Contains(f.before, []byte("annals")) {
			edits = append(edits, f)
		}
	}
	if err := editAll(edits, edit.take); err != nil {
		return err
	}
	remove := map[*file]bool{}
	var changed []*file
	for _, f := range plan.files {
		if was, known := all[f.path]; known && was.untouched(f) {
			f.after, remove[f] = was.Before, was.Created
		}
		if f.changed() || remove[f] {
			changed = append(changed, f)
		}
	}
	plan.removed = remove
	if len(changed) > 0 && !u.DryRun {
		if recorded.exists {
			changed, remove[recorded] = append(changed, recorded), true
		}
		if err := writeAll(changed, func(f *file) bool { return !remove[f] }); err != nil {
			return err
		}
	}
	plan.only(changed)
	return plan.print(c, m, u.DryRun, nil, func() {})
}

// without is the file's text without the changes.
func (f *file) without() ([]byte, error) {
	bare := *f
	err := bare.edit(edit.take)
	return bare.after, err
}

// plan is what is changed in which files.
type plan struct {
	files   []*file
	hosts   map[*file]string
	removed map[*file]bool
	byPath  map[string]*file
	err     error
}

func newPlan() *plan { return &plan{hosts: map[*file]string{}, byPath: map[string]*file{}} }

// add adds the changes of a host.
func (p *plan) add(host string, changes []change) {
	for _, change := range changes {
		f := p.byPath[change.file]
		if f == nil {
			opened, err := open(change.file)
			if err != nil {
				p.err = errors.Join(p.err, err)
				continue
			}
			f = opened
			p.byPath[change.file], p.hosts[f] = f, host
			p.files = append(p.files, f)
		}
		f.changes = append(f.changes, change)
	}
}

// edit makes all changes in memory. It names every file that cannot be edited.
func (p *plan) edit(apply func(edit, []byte) ([]byte, error)) error {
	if p.err != nil {
		return terminal.Wrong("nothing was changed", "%s", p.err)
	}
	return editAll(p.files, apply)
}

func editAll(files []*file, apply func(edit, []byte) ([]byte, error)) error {
	var failed []string
	for _, f := range files {
		if err := f.edit(apply); err != nil {
			failed = append(failed, err.Error())
		}
	}
	if len(failed) > 0 {
		return terminal.Wrong("mend it, or leave its host out with --only; nothing was changed", "%s", strings.Join(failed, "; "))
	}
	return nil
}

// only leaves only some files.
func (p *plan) only(files []*file) {
	p.files = slices.DeleteFunc(p.files, func(f *file) bool { return !slices.Contains(files, f) })
}

func (p *plan) print(c *terminal.Console, m machine, dry bool, absent []string, done func()) error {
	answer := struct {
		Files  []planned `json:"files"`
		Absent []string  `json:"absent,omitempty"`
		DryRun bool      `json:"dry_run"`
	}{[]planned{}, absent, dry}
	table, changed := terminal.NewTable("HOST", "FILE", "WHAT", ""), 0
	for _, f := range p.files {
		one := planned{Host: p.hosts[f], File: f.path, Outcome: "unchanged"}
		for _, change := range f.changes {
			if change.what != "version" {
				one.Changes = append(one.Changes, change.what)
			}
		}
		switch {
		case p.removed[f]:
			one.Outcome = "removed"
		case !f.exists:
			one.Outcome = "new"
		case f.changed():
			one.Outcome = "changed"
		}
		if one.Outcome != "unchanged" {
			changed++
		}
		answer.Files = append(answer.Files, one)
		path := one.File
		if relative, err := filepath.Rel(m.user, path); err == nil && filepath.IsLocal(relative) {
			path = filepath.Join("~", relative)
		}
		table.Row(one.Host, path, strings.Join(one.Changes, ", "), one.Outcome)
	}
	if c.JSON {
		return c.Document(answer)
	}
	if len(p.files) > 0 {
		c.Table(table)
	}
	if len(absent) > 0 {
		c.Note("not found: %s", strings.Join(absent, ", "))
	}
	switch {
	case changed == 0:
		c.Say("nothing to change")
	case dry:
		c.Say("\nNothing is written yet: leave --dry-run out.")
	default:
		c.Say("\n%s", fmt.Sprint(terminal.Several(changed, "file"), " written"))
		done()
	}
	return nil
}
