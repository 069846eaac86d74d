package agents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
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
	a, err := i.access(m)
	if err != nil {
		return err
	}
	var p plan
	var notes []string
	p.add("Annals", settings)
	for _, h := range chosen {
		p.add(h.name, h.changes(h.home(m), a))
		if h.note != "" {
			notes = append(notes, h.name+": "+h.note+".")
		}
	}
	recorded, all, err := m.records()
	if err != nil {
		return err
	}
	for _, f := range p.files { // an entry that somebody else has made stays
		f.changes = slices.DeleteFunc(f.changes, func(change change) bool {
			without, err := change.edit.take(f.before)
			own := change.what != isServer || slices.Contains(all[f.path].Changes, isServer)
			if own || err != nil || bytes.Equal(without, f.before) {
				return false
			}
			notes = append(notes, f.host+": its own entry annals stays as it is in "+f.path+".")
			return true
		})
	}
	if err := p.edit(p.files, edit.put, "mend it, or leave its host out with --only"); err != nil {
		return err
	}
	for _, f := range p.changed() {
		was, known := all[f.path]
		if !known || !was.untouched(f) {
			was = record{Path: f.path, Created: !f.exists}
			bare := *f
			if err := bare.edit(edit.take); err != nil && f.exists {
				return err
			}
			if was.Before = bare.after; f.host == "Annals" && !known { // the address and key were the user's
				was.Before = f.before
			}
		}
		for _, change := range f.changes {
			if !slices.Contains(was.Changes, change.what) {
				was.Changes = append(was.Changes, change.what)
			}
		}
		was.After = hashOf(f.after)
		all[f.path] = was
	}
	written := append([]*file{recorded}, p.changed()...)
	all[recorded.path] = record{Path: recorded.path, Folders: append(all[recorded.path].Folders, missing(written)...)}
	if setRecords(recorded, all); !i.DryRun && len(p.changed()) > 0 {
		if err := writeAll(c, written); err != nil {
			return err
		}
		notes = append([]string{"Start the agents anew. annals uninstall takes all of this back."}, notes...)
	}
	return p.print(c, m, i.DryRun, absent, notes)
}

// choose returns the hosts that are on this machine, or those that are named, and the names of the others.
func (i *InstallCommand) choose(m machine) (chosen []host, absent []string, err error) {
	for _, id := range i.Only {
		if !slices.Contains(ids(), id) {
			return nil, nil, terminal.Wrong("choose of "+strings.Join(ids(), ", "), "there is no host %s",
				terminal.Printable(id))
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

// settings are the changes of the program's own configuration, by which every agent finds the server. If the server
// here has the database that annals mcp would open without it, no address is needed.
func (i *InstallCommand) settings(ctx context.Context, c *terminal.Console, m machine) ([]change, error) {
	if listen := c.Settings.Values["listen"]; listen != "" && !c.Named { // where annals mcp looks, too
		i.Server = "http://" + listen
	}
	server, err := i.Connect()
	if err != nil {
		return nil, err
	}
	if !c.Named && i.APIKey == "" {
		hosts := serve.Storage{Database: c.Settings.Values["database"], Data: c.Settings.Values["data"]}
		if _, err := server.Health(ctx); err != nil || hosts.IsServedAt(i.Server) {
			return nil, nil //nolint:nilerr // annals mcp is the server then
		}
	}
	who, err := server.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	if i.APIKey != "" && who.Authentication == domain.OpenAuthentication {
		return nil, terminal.Wrong("leave the key out, also of ANNALS_KEY and "+c.Settings.File,
			"%s is in no-auth mode: it has no keys, so this is none of its keys", i.Server)
	}
	if i.APIKey == "" && os.Getenv("ANNALS_KEY") != "" && os.Getenv("ANNALS_SERVER") == "" {
		return nil, terminal.Wrong("unset ANNALS_KEY, or name the key for this server with --api-key",
			"the key in ANNALS_KEY is for another server, and from now on it would be sent to %s", i.Server)
	}
	data := dataOf(ctx, server, i.Server)
	all := m.own(c, i.Server, i.APIKey, data)
	if data == "" {
		all = all[:2]
	}
	switch {
	case i.APIKey == "" && c.Settings.Values["api-key"] != "": // it is for another server
		all[1].what, all[1].edit = "key removed", yamlEdit{path: []string{"api-key"}}
	case i.APIKey == "":
		all = slices.Delete(all, 1, 2)
	}
	return all, nil
}

// dataOf is the data directory of a server on this machine, so that annals serve opens the same memory again. It is
// empty for other servers, and for callers who may not read settings.
func dataOf(ctx context.Context, server *client.Client, address string) string {
	var settings api.Settings
	_, _ = server.Do(ctx, client.Get("v1", "settings"), &settings)
	for _, s := range settings.Items {
		if s.Variable == "ANNALS_DATA" && (serve.Storage{Data: s.Value}).IsServedAt(address) {
			return s.Value
		}
	}
	return ""
}

// own are the changes of the program's own configuration.
func (m machine) own(c *terminal.Console, server, key, data string) []change {
	file := cmp.Or(c.Settings.File, filepath.Join(m.config, "annals", "annals.yaml"))
	return []change{
		{file, "server", yamlEdit{[]string{"server"}, server}},
		{file, "key", yamlEdit{[]string{"api-key"}, key}},
		{file, "data", yamlEdit{[]string{"data"}, data}},
	}
}

// access is how the hosts reach Annals. Without a key, an agent says itself who it is.
func (i *InstallCommand) access(m machine) (access, error) {
	program, err := os.Executable()
	a := access{machine: m, program: program}
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
	var p plan
	p.add("Annals", m.own(c, "", "", ""))
	for _, h := range hosts {
		p.add(h.name, h.changes(h.home(m), access{machine: m}))
	}
	p.err = nil // what cannot be read was not written
	p.files = slices.DeleteFunc(p.files, func(f *file) bool { return !f.exists || all[f.path].After == "" })
	var edits []*file
	for _, f := range p.files {
		was := all[f.path]
		f.changes = slices.DeleteFunc(f.changes, func(change change) bool {
			return !slices.Contains(was.Changes, change.what)
		})
		if was.untouched(f) {
			f.after, f.remove = was.Before, was.Created
		} else {
			edits = append(edits, f)
		}
	}
	if err := p.edit(edits, edit.take, "mend it"); err != nil {
		return err
	}
	for _, f := range edits {
		f.remove = all[f.path].Created && len(bytes.Trim(f.after, " \t\r\n{}")) == 0
	}
	p.files = p.changed()
	if !u.DryRun && len(p.files) > 0 {
		files := p.files
		if recorded.remove = true; recorded.exists {
			files = append(slices.Clone(files), recorded)
		}
		if err := writeAll(c, files); err != nil {
			return err
		}
		removeEmpty(all[recorded.path].Folders)
		if dir, err := shownDir(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
	return p.print(c, m, u.DryRun, nil, nil)
}

// plan is what is changed in which files.
type plan struct {
	files []*file
	err   error
}

// add adds the changes of a host.
func (p *plan) add(host string, changes []change) {
	for _, change := range changes {
		f, err := open(change.file)
		if err != nil {
			p.err = errors.Join(p.err, err)
			continue
		}
		if i := slices.IndexFunc(p.files, func(other *file) bool { return other.path == f.path }); i >= 0 {
			f = p.files[i]
		} else {
			f.host, p.files = host, append(p.files, f)
		}
		f.changes = append(f.changes, change)
	}
}

// edit makes the changes of some files in memory. It names every file that cannot be edited.
func (p *plan) edit(files []*file, apply func(edit, []byte) ([]byte, error), fix string) error {
	err := p.err
	for _, f := range files {
		err = errors.Join(err, f.edit(apply))
	}
	if err != nil {
		return terminal.Wrong(fix+"; nothing was changed", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

func (p *plan) changed() (files []*file) {
	for _, f := range p.files {
		if f.changed() {
			files = append(files, f)
		}
	}
	return files
}

func (p *plan) print(c *terminal.Console, m machine, dry bool, absent, notes []string) error {
	answer := struct {
		Files  []planned `json:"files"`
		Absent []string  `json:"absent,omitempty"`
		DryRun bool      `json:"dry_run"`
	}{[]planned{}, absent, dry}
	table := terminal.NewTable("HOST", "FILE", "WHAT", "")
	for _, f := range p.files {
		one := planned{Host: f.host, File: f.path, Outcome: "unchanged"}
		for _, change := range f.changes {
			if change.what != "" {
				one.Changes = append(one.Changes, change.what)
			}
		}
		switch {
		case f.remove:
			one.Outcome = "removed"
		case !f.exists:
			one.Outcome = "new"
		case f.changed():
			one.Outcome = "changed"
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
	switch changed := len(p.changed()); {
	case changed == 0:
		c.Say("nothing to change")
	case dry:
		c.Say("\nNothing is written yet: leave --dry-run out.")
	default:
		c.Say("\n%s written", terminal.Several(changed, "file"))
	}
	for _, note := range notes {
		c.Say("%s", note)
	}
	return nil
}
