package operate

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
	all, err := client.WholeDirectory(ctx, server)
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
	_ = rows.Write(client.DirectoryHead) // to memory
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

type directoryImportCommand struct {
	terminal.Remote

	File              string `arg:"" complete:"file"`
	DryRun            bool
	DeactivateMissing bool
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
	present, err := client.WholeDirectory(ctx, server)
	if err != nil {
		return err
	}
	changes := client.DirectoryChanges(present, wanted, d.DeactivateMissing)
	if len(changes) == 0 {
		c.Say("nothing to change: the directory is as the file says")
		return nil
	}
	if d.DryRun {
		for _, change := range changes {
			c.Say("%s", change.What)
		}
		c.Note("%d changes; nothing was changed", len(changes))
		return nil
	}
	var refused []string
	for i, change := range changes {
		_, err := server.Do(ctx, change.Request, nil)
		switch f := terminal.AsFailure(err); {
		case err == nil:
			c.Say("%s", change.What)
		case errors.Is(err, client.ErrConflict), errors.Is(err, client.ErrInvalid), errors.Is(err, client.ErrNotFound):
			refused = append(refused, change.What+": "+terminal.Joined("; ", f.Detail, f.Fix))
		default:
			c.Note("%d of %d changes were made before this one; run the command again when it is mended",
				i-len(refused), len(changes))
			return fmt.Errorf("%s: %w", change.What, err)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	for _, one := range refused {
		c.Note("refused: %s", one)
	}
	return &terminal.Failure{
		Code: terminal.ExitFailed, Fix: "mend the file or the directory, and run the command again",
		Detail: fmt.Sprintf("%d of %d changes were refused", len(refused), len(changes)),
	}
}

// readDirectory reads a directory from a file, "-" for standard input, as CSV or as lines of JSON.
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
	if members, err = client.ReadDirectory(in); err != nil {
		return nil, terminal.Wrong("mend the file; nothing was changed", "%s", err)
	}
	return members, nil
}
