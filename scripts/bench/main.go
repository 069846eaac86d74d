package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// command is the command line.
type command struct {
	Remember  remember  `cmd:"" help:"Durable writes by 1, 8 and 64 clients, imports and starts, beside plain inserts."`
	Search    search    `cmd:"" help:"Searches by meaning among 100,000 vectors, for audiences of all sizes."`
	Retrieval retrieval `cmd:"" help:"How well and how fast questions find their evidence (needs --questions)."`
	Rebuild   rebuild   `cmd:"" help:"A rebuild, beside INSERT ... SELECT of the same rows, and again under load."`
	Verify    verify    `cmd:"" help:"The verification of a log, beside reading and hashing its rows."`
	Console   console   `cmd:"" help:"Pages of the console over many items and receipts, and when a browser shows them."`
	Scale     scale     `cmd:"" help:"How figures grow from 10,000 to 1,000,000 items."`
}

// settings are flags that all benchmarks share.
type settings struct {
	Program string   `help:"The program to measure. Default: it is built." type:"existingfile"`
	Base    string   `help:"Another program, measured in turn." type:"existingfile"`
	Engine  []string `help:"The engines." default:"sqlite,postgres" enum:"sqlite,postgres"`
	Rounds  int      `help:"How often each program has its turn." default:"3"`
	JSON    string   `help:"Write the report to this file, too." name:"json"`
	Profile string   `help:"A directory for CPU profiles of the servers." type:"path"`
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
	defer os.RemoveAll(dir)
	if s.Program == "" {
		if s.Program, err = build(ctx, dir); err != nil {
			return err
		}
	}
	programs := []program{{name: measured, path: s.Program, profiles: s.Profile}}
	if s.Base != "" {
		programs = append(programs, program{name: "base", path: s.Base})
	}
	r := &report{Machine: machine()}
	for _, engine := range s.Engine {
		one := &session{
			settings: s, report: r, benchmark: name, engine: engine, programs: programs, dir: filepath.Join(dir, engine),
		}
		if err = errors.Join(os.Mkdir(one.dir, 0o700), measure(ctx, one)); err != nil {
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

// inTurn measures each program or server once per round, and then what it is compared with.
func inTurn[T any](rounds int, list []T, measure func(T) error, references ...func() error) error {
	for range rounds {
		for _, one := range list {
			if err := measure(one); err != nil {
				return err
			}
		}
		for _, reference := range references {
			if err := reference(); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks every server all questions, in a random order per round. It returns the ids that each server finds for each
// question in a first round, which warms the servers up and is not timed.
func (s *session) ask(
	ctx context.Context, servers []*server, name string, questions []map[string]any,
) (found [][]answer, err error) {
	found = make([][]answer, len(servers))
	for n := range found {
		found[n] = make([]answer, len(questions))
	}
	for round := range 1 + s.Rounds {
		times := make([][]time.Duration, len(servers))
		for _, turn := range rand.New(rand.NewPCG(3, uint64(round))).Perm(len(servers) * len(questions)) {
			q, n := turn/len(servers), turn%len(servers)
			began := time.Now()
			one, err := servers[n].search(ctx, questions[q])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			times[n] = append(times[n], time.Since(began))
			if round == 0 {
				found[n][q] = one
			}
		}
		for n, server := range servers {
			if round > 0 {
				s.addTimes(server.program.name, name, times[n], 0.95)
			}
		}
	}
	return found, nil
}
