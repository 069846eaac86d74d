package operate

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// DirectoryFileCommands read and write the whole directory.
type DirectoryFileCommands struct {
	Import directoryImportCommand `cmd:""`
	Export directoryExportCommand `cmd:""`
}

// directoryHead are the columns of the directory as CSV. Groups have the form "team:pay=maintainer; org:acme".
var directoryHead = []string{"member", "display_name", "active", "groups"}

type directoryExportCommand struct {
	terminal.Remote

	Format string `default:"csv" enum:"csv,ndjson" placeholder:"FORMAT"`
}

// Run implements the command.
func (d *directoryExportCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := d.Connect()
	if err != nil {
		return err
	}
	all, err := wholeDirectory(ctx, server)
	if err != nil {
		return err
	}
	if d.Format == "ndjson" {
		for _, m := range all {
			line, err := json.Marshal(m)
			if err != nil {
				return err
			}
			c.Print("%s\n", line)
		}
		return nil
	}
	var text strings.Builder
	rows := csv.NewWriter(&text)
	_ = rows.Write(directoryHead) // to memory
	for _, m := range all {
		var groups []string
		for _, g := range m.Groups {
			one := g.Group
			if g.Role != string(domain.InGroup) {
				one += "=" + g.Role
			}
			groups = append(groups, one)
		}
		_ = rows.Write([]string{m.Member, m.DisplayName, fmt.Sprint(m.Active), strings.Join(groups, "; ")})
	}
	rows.Flush()
	c.Print("%s", text.String())
	return nil
}

// wholeDirectory are all members, groups first, so that an import of them in this order finds every group.
func wholeDirectory(ctx context.Context, server *client.Client) (all []api.Member, err error) {
	for _, kind := range []string{domain.Org, domain.Team, domain.Project, domain.User, domain.Agent} {
		some, err := membersOf(ctx, server, kind)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

type directoryImportCommand struct {
	terminal.Remote

	File              string `arg:"" complete:"file"`
	DryRun            bool
	DeactivateMissing bool
}

// directoryChange is one request of an import, and what it does.
type directoryChange struct {
	what    string
	request client.Request
}

// Run implements the command.
func (d *directoryImportCommand) Run(ctx context.Context, c *terminal.Console) error {
	wanted, err := readDirectory(c, d.File)
	if err != nil {
		return err
	}
	server, err := d.Connect()
	if err != nil {
		return err
	}
	present, err := wholeDirectory(ctx, server)
	if err != nil {
		return err
	}
	changes := directoryChanges(present, wanted, d.DeactivateMissing)
	if len(changes) == 0 {
		c.Say("nothing to change: the directory is as the file says")
		return nil
	}
	for i, change := range changes {
		if !d.DryRun {
			if _, err := server.Do(ctx, change.request, nil); err != nil {
				c.Note("%d of %d changes were made before this one; run the command again when it is mended", i, len(changes))
				return fmt.Errorf("%s: %w", change.what, err)
			}
		}
		c.Say("%s", change.what)
	}
	if d.DryRun {
		c.Note("%d changes; nothing was changed", len(changes))
	}
	return nil
}

// directoryChanges are the changes that make the directory as a file says: first members, then who belongs to what.
// What a file does not name stays, unless the missing are deactivated.
func directoryChanges(present, wanted []api.Member, deactivateMissing bool) (changes []directoryChange) {
	known := map[string]api.Member{}
	for _, m := range present {
		known[m.Member] = m
	}
	change := func(method string, body any, path []string, format string, values ...any) {
		changes = append(changes, directoryChange{
			fmt.Sprintf(format, values...), client.Request{Method: method, Path: path, Body: body},
		})
	}
	missing := maps.Clone(known)
	for _, m := range wanted {
		delete(missing, m.Member)
		was, there := known[m.Member]
		switch {
		case !there:
			change(http.MethodPut, api.NewMember{DisplayName: &m.DisplayName}, directoryPath(m.Member), "add %s", m.Member)
		case was.DisplayName != m.DisplayName && m.DisplayName != "":
			change(http.MethodPut, api.NewMember{DisplayName: &m.DisplayName}, directoryPath(m.Member), "rename %s", m.Member)
		}
		if there && !was.Active && m.Active {
			change(http.MethodPost, nil, directoryPath(m.Member, "reactivate"), "reactivate %s", m.Member)
		}
	}
	for _, m := range wanted {
		was := known[m.Member]
		for _, g := range m.Groups {
			if !slices.ContainsFunc(was.Groups, func(o api.Membership) bool { return o.Group == g.Group && o.Role == g.Role }) {
				change(
					http.MethodPut, api.NewMembership{Role: g.Role}, directoryPath(m.Member, "groups", g.Group),
					"%s joins %s as %s", m.Member, g.Group, g.Role,
				)
			}
		}
		for _, o := range was.Groups {
			if !slices.ContainsFunc(m.Groups, func(g api.Membership) bool { return o.Group == g.Group }) {
				change(
					http.MethodDelete, api.Reason{}, directoryPath(m.Member, "groups", o.Group), "%s leaves %s", m.Member, o.Group,
				)
			}
		}
	}
	for _, m := range wanted {
		if was, there := known[m.Member]; !m.Active && (was.Active || !there) {
			change(http.MethodPost, nil, directoryPath(m.Member, "deactivate"), "deactivate %s", m.Member)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if deactivateMissing && missing[name].Active {
			change(http.MethodPost, nil, directoryPath(name, "deactivate"), "deactivate %s, which the file does not name", name)
		}
	}
	return changes
}

// readDirectory reads a directory from a file, "-" for standard input, as CSV or as lines of JSON. It names every bad
// line.
func readDirectory(c *terminal.Console, name string) (members []api.Member, err error) {
	in := c.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, terminal.Wrong("name a file, or - for standard input", "%s", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	text := bufio.NewReader(in)
	if first, _ := text.Peek(1); string(first) == "{" {
		members, err = directoryLines(text)
	} else {
		members, err = directoryRows(text)
	}
	if err != nil {
		return nil, err
	}
	var bad []string
	seen := map[string]bool{}
	for i, m := range members {
		names := []string{m.Member}
		for _, g := range m.Groups {
			names = append(names, g.Group)
			if !slices.Contains(domain.GroupRoles, domain.GroupRole(g.Role)) {
				bad = append(bad, fmt.Sprintf("entry %d: the role in %s must be member or maintainer", i+1, g.Group))
			}
		}
		for _, e := range names {
			if _, err := domain.ParseEntity(e); err != nil {
				bad = append(bad, fmt.Sprintf("entry %d: %q %s", i+1, e, err))
			}
		}
		if seen[m.Member] {
			bad = append(bad, fmt.Sprintf("entry %d: %s is named twice", i+1, m.Member))
		}
		seen[m.Member] = true
	}
	if len(bad) > 0 {
		return nil, terminal.Wrong("mend the file; nothing was changed", "%s", strings.Join(bad, "\n"))
	}
	return members, nil
}

func directoryLines(text io.Reader) (members []api.Member, err error) {
	decoder := json.NewDecoder(text)
	for {
		m := api.Member{Active: true}
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return members, nil
		} else if err != nil {
			return nil, terminal.Wrong(
				"as annals directory export --format ndjson prints it", "entry %d: %s", len(members)+1, err,
			)
		}
		m.Groups = slices.DeleteFunc(m.Groups, func(g api.Membership) bool { return g.Through != "" })
		for i := range m.Groups {
			m.Groups[i].Role = cmp.Or(m.Groups[i].Role, string(domain.InGroup))
		}
		members = append(members, m)
	}
}

func directoryRows(text io.Reader) (members []api.Member, err error) {
	rows := csv.NewReader(text)
	rows.FieldsPerRecord = -1
	all, err := rows.ReadAll()
	if err != nil || len(all) == 0 || len(all[0]) == 0 || strings.TrimPrefix(all[0][0], "\ufeff") != directoryHead[0] {
		return nil, terminal.Wrong(
			"begin with the line "+strings.Join(directoryHead, ","), "it is not a directory as CSV or lines of JSON",
		)
	}
	for _, row := range all[1:] {
		row = append(row, make([]string, len(directoryHead))...)
		m := api.Member{
			Member: strings.TrimSpace(row[0]), DisplayName: strings.TrimSpace(row[1]),
			Active: strings.TrimSpace(row[2]) != "false",
		}
		for group := range strings.SplitSeq(row[3], ";") {
			name, role, _ := strings.Cut(strings.TrimSpace(group), "=")
			if name != "" {
				m.Groups = append(m.Groups, api.Membership{Group: name, Role: cmp.Or(role, string(domain.InGroup))})
			}
		}
		members = append(members, m)
	}
	return members, nil
}
