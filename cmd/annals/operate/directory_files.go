package operate

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// DirectoryFileCommands read and write the whole directory.
type DirectoryFileCommands struct {
	Import directoryImportCommand `cmd:""`
	Export directoryExportCommand `cmd:""`
}

type directoryExportCommand struct {
	terminal.Remote

	Format string `default:"csv" enum:"csv,ndjson" placeholder:"FORMAT"`
}

func (d *directoryExportCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := d.Connect()
	if err != nil {
		return err
	}
	all, err := client.WholeDirectory(ctx, server)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return c.Document(api.Page[api.Member]{Items: all})
	case d.Format == "ndjson":
		for _, m := range all {
			line, err := json.Marshal(m)
			if err != nil {
				return err
			}
			c.Print("%s", line)
		}
		return nil
	}
	rows := csv.NewWriter(c.Out)
	_ = rows.Write(client.DirectoryHead) // Error returns what failed
	for _, m := range all {
		var groups []string
		for _, g := range m.Groups {
			one := g.Group
			if g.Role != string(domain.InGroup) {
				one += "=" + g.Role
			}
			groups = append(groups, one)
		}
		name := client.DirectoryName(m.DisplayName)
		_ = rows.Write([]string{m.Member, name, fmt.Sprint(m.Active), strings.Join(groups, "; ")})
	}
	rows.Flush()
	return rows.Error()
}

type directoryImportCommand struct {
	terminal.Remote

	File              string `arg:"" complete:"file"`
	DryRun            bool
	DeactivateMissing bool
}

// importedChange is a change of an import, and why it was or would be refused.
type importedChange struct {
	Line    int    `json:"line,omitempty"` // in the file
	What    string `json:"change"`
	Refused string `json:"refused,omitempty"`
}

func (d *directoryImportCommand) Run(ctx context.Context, c *terminal.Console) error {
	wanted, lines, err := readDirectory(c, d.File)
	if err != nil {
		return err
	}
	server, err := d.Connect()
	if err != nil {
		return err
	}
	present, err := client.WholeDirectory(ctx, server)
	if err != nil {
		return err
	}
	changes := client.DirectoryChanges(present, wanted, d.DeactivateMissing)
	all, refused := make([]importedChange, len(changes)), 0
	for i, change := range changes {
		one := importedChange{lines[change.Request.Path[2]], change.What, change.Problem}
		if !d.DryRun {
			if one.Refused, err = refusalOf(server.Do(ctx, change.Request, nil)); err != nil {
				return fmt.Errorf("%d of %s made; %s: %w", i-refused, terminal.Several(len(changes), "change"), change.What, err)
			}
		}
		if all[i] = one; one.Refused != "" {
			refused++
		} else if !c.JSON {
			c.Say("%s", one.What)
		}
	}
	if c.JSON {
		err = c.Document(map[string]any{"changes": all, "dry_run": d.DryRun})
	} else {
		d.conclude(ctx, c, server, all, refused)
	}
	if err != nil || refused == 0 {
		return err
	}
	return &terminal.Failure{
		Code: terminal.ExitFailed, Fix: "mend the file or the directory, and run the command again",
		Detail: fmt.Sprintf("%d of %s refused", refused, terminal.Several(len(all), "change")),
	}
}

// refusalOf is why the server refused a change. The error is one that the next change would meet, too.
func refusalOf(_ *client.Response, err error) (string, error) {
	for _, refused := range []error{client.ErrConflict, client.ErrInvalid, client.ErrNotFound} {
		if errors.Is(err, refused) {
			return terminal.AsFailure(err).Line(), nil
		}
	}
	return "", err
}

// conclude lists what was refused, and sums up.
func (d *directoryImportCommand) conclude(
	ctx context.Context, c *terminal.Console, server *client.Client, all []importedChange, refused int,
) {
	if len(all) == 0 {
		c.Say("nothing to change: the directory is as the file says")
		return
	}
	for _, one := range all {
		switch {
		case one.Refused == "":
		case one.Line == 0: // the file does not name the member
			c.Note("refused: %s: %s", one.What, one.Refused)
		default:
			c.Note("refused: line %d: %s: %s", one.Line, one.What, one.Refused)
		}
	}
	done := terminal.Several(len(all)-refused, "change")
	if !d.DryRun {
		c.Note("%s made", done)
		return
	}
	c.Note("%s planned; nothing was changed", done)
	me, err := server.Whoami(ctx)
	caller := domain.Principal{Role: domain.Role(me.Role), OnBehalfOf: domain.Entity(me.OnBehalfOf)}
	if err == nil && !caller.IsTenantAdmin() {
		c.Note("you are no admin: the server lets you change only the members of groups that you maintain")
	}
}

// readDirectory reads a directory from a file, "-" for standard input, as CSV or as lines of JSON.
func readDirectory(c *terminal.Console, name string) (members []api.Member, lines map[string]int, err error) {
	in := c.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, terminal.Wrong("name a file, or - for standard input", "%s", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	if members, lines, err = client.ReadDirectory(in); err != nil {
		return nil, nil, terminal.Wrong("mend the file; nothing was changed", "%s", err)
	}
	return members, lines, nil
}
