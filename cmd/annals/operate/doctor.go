package operate

import (
	"context"
	"errors"
	"fmt"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type DoctorCommand struct {
	terminal.Remote
	serve.Embedder

	Alive    bool
	Database string `env:"DATABASE_URL" placeholder:"URL"`
}

// Run implements the command.
func (d *DoctorCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := d.Connect()
	if err != nil {
		return err
	}
	var e examination
	reached := e.server(ctx, server)
	if d.Alive {
		return errors.Join(e.print(c), e.verdict(reached))
	}
	if reached {
		e.readiness(ctx, server)
		e.projections(ctx, server)
		e.rebuilt(ctx, server)
		e.walls(ctx, server)
		e.files(ctx, server)
		e.question(ctx, server)
	} else {
		e.embedder(d.Embedder)
	}
	// The file of a server that is running is the server's alone.
	if _, isFile := serve.SqliteFile(d.Database); d.Database != "" && !(reached && isFile) {
		e.database(ctx, c, d.Database)
	}
	if err := e.print(c); err != nil {
		return err
	}
	return e.verdict(reached)
}

// finding is the outcome of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

const (
	fine   = "ok"
	warned = "warn"
	broken = "fail"
)

// examination is what doctor found out.
type examination struct{ findings []finding }

func (e *examination) note(check, status, fix, format string, values ...any) {
	e.findings = append(e.findings, finding{Check: check, Status: status, Detail: fmt.Sprintf(format, values...), Fix: fix})
}

func (e *examination) failed(check string, err error) {
	f := terminal.AsFailure(err)
	e.note(check, broken, f.Fix, "%s", f.Detail)
}

func (e *examination) print(c *terminal.Console) error {
	if c.JSON {
		return c.Document(map[string]any{"checks": e.findings})
	}
	rows := &terminal.Grid{Heads: []string{"", "CHECK", "FINDING"}}
	for _, f := range e.findings {
		mark := map[string]string{fine: terminal.Green.Render("ok"), warned: terminal.Amber.Render("warn"), broken: terminal.Red.Render("fail")}[f.Status]
		text := terminal.Printable(f.Detail)
		if f.Fix != "" {
			text += "\n→ " + terminal.Printable(f.Fix)
		}
		rows.Row(mark, f.Check, text)
	}
	c.Table(rows.Render(c.Width))
	return nil
}

// verdict turns the findings into an exit code.
func (e *examination) verdict(reached bool) error {
	wrong := 0
	for _, f := range e.findings {
		if f.Status == broken {
			wrong++
		}
	}
	switch {
	case !reached:
		return &terminal.Failure{Code: terminal.ExitUnavailable, Detail: "no server to examine"}
	case wrong > 0:
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: fmt.Sprintf("%d of %d checks failed", wrong, len(e.findings))}
	}
	return nil
}
