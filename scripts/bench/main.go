package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// command is the command line.
type command struct {
	Remember  remember   `cmd:"" help:"Durable writes by 1, 8 and 64 clients, imports and starts, beside plain inserts."`
	Search    search     `cmd:"" help:"Searches by meaning among 100,000 vectors, for audiences of all sizes."`
	Retrieval retrieval  `cmd:"" help:"How well and how fast questions find their evidence (needs --locomo)."`
	Rebuild   rebuild    `cmd:"" help:"A rebuild, beside INSERT ... SELECT of the same rows, and again under load."`
	Verify    verify     `cmd:"" help:"The verification of a log, beside reading and hashing its rows."`
	Scale     scale      `cmd:"" help:"How figures grow from 10,000 to 1,000,000 items."`
	Compare   comparison `cmd:"" help:"Remember, search, retrieval and rebuild in turn with another program."`
}

// settings are flags that all benchmarks share.
type settings struct {
	Program string   `help:"The program to measure. Default: it is built." type:"existingfile"`
	Base    string   `help:"Another program, measured in turn." type:"existingfile"`
	Engine  []string `help:"The engines." default:"sqlite,postgres" enum:"sqlite,postgres"`
	Rounds  int      `help:"How often each program has its turn." default:"3"`
	JSON    string   `help:"Write the report to this file, too." name:"json"`
	Profile string   `help:"A directory for CPU profiles of the servers." type:"path"`
	Keep    bool     `help:"Print where the databases are, and keep them."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var c command
	parsed := kong.Parse(&c, kong.Name("bench"), kong.Description("Measure Annals."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	err := parsed.Run()
	stop()
	parsed.FatalIfErrorf(err)
}

// run measures on every engine and prints the report. It calls measure once per engine.
func (s *settings) run(ctx context.Context, name string, measure func(context.Context, *session) error) (err error) {
	dir, err := os.MkdirTemp("", "annals-bench-")
	if err != nil {
		return err
	}
	defer func() {
		if !s.Keep {
			_ = os.RemoveAll(dir)
		}
	}()
	if s.Program == "" {
		if s.Program, err = build(ctx, dir); err != nil {
			return err
		}
	}
	programs := []program{{name: "annals", path: s.Program, profiles: s.Profile}}
	if s.Base != "" {
		programs = append(programs, program{name: "base", path: s.Base})
	}
	r := newReport()
	for _, engine := range s.Engine {
		one := &session{
			settings: s, report: r, benchmark: name, engine: engine, programs: programs,
			dir: filepath.Join(dir, engine),
		}
		if err := os.MkdirAll(one.dir, 0o700); err != nil {
			return err
		}
		if err = measure(ctx, one); err != nil {
			err = fmt.Errorf("%s: %s: %w", name, engine, err)
			break
		}
	}
	return errors.Join(err, r.print(os.Stdout), r.write(s.JSON)) // also what was measured before an error
}

// session is one benchmark on one engine.
type session struct {
	*settings
	*report
	benchmark, engine string
	programs          []program
	dir               string // temporary
}

// add adds a program's value of one round.
func (s *session) add(program, name, unit string, better direction, value float64) {
	fmt.Fprintf(
		os.Stderr, "%s  %s  %s  %s: %.4g %s\n", time.Now().Format(time.TimeOnly), s.engine, program, name, value, unit,
	)
	s.report.add(key{s.benchmark, s.engine, name, unit, better}, program, value)
}

// comparison runs the benchmarks whose figures must not get worse.
type comparison struct {
	settings
	Locomo string `help:"The directory with knowledge.ndjson and queries.ndjson." type:"existingdir"`
	Items  int    `help:"Items to search." default:"100000"`
	Events int    `help:"Events to rebuild from." default:"100000"`
	Time   int    `help:"Seconds that one run of clients lasts." default:"6"`
}

// Run implements the command.
func (c *comparison) Run(ctx context.Context) error {
	if c.Base == "" {
		return fmt.Errorf("name the program to compare with: --base PATH")
	}
	return c.run(ctx, "compare", func(ctx context.Context, s *session) error {
		parts := []struct {
			name    string
			measure func(context.Context, *session) error
		}{
			{"remember", (&remember{settings: c.settings, Clients: []int{1, 8, 64}, Time: c.Time}).measureRates},
			{"search", (&search{settings: c.settings, Items: c.Items, Questions: 30}).measure},
			{"rebuild", (&rebuild{settings: c.settings, Events: c.Events}).measureQuiet},
		}
		for _, part := range parts {
			s.benchmark = part.name
			if err := part.measure(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
		if c.Locomo == "" {
			return nil
		}
		s.benchmark = "retrieval"
		return (&retrieval{settings: c.settings, Locomo: c.Locomo}).measure(ctx, s)
	})
}
