package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

// way is a way to remember durably. The first one of an engine is the product's.
type way struct {
	name   string
	target float64 // the ratio to this that is wanted with 64 clients; 0 for none
	open   func(ctx context.Context) (*contender, error)
}

// contender is a way at work, on a database of its own that is empty at first.
type contender struct {
	run   func(ctx context.Context, clients int, length time.Duration) (outcome, error)
	cpu   meter // of what does the work, without whoever asks for it
	close func() error
}

const (
	sampled = 100    // transactions that the references repeat
	bodies  = 50_000 // different requests
)

// measureRates lets every way remember in turn, round after round, since a shared machine is not the same from one
// minute to the next. Each turn begins with an empty database, and what one leaves to be done later ends with it.
func measureRates(ctx context.Context, p program, engine database.Engine, o options, report *report) (err error) {
	dir, err := os.MkdirTemp("", "annals-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	samples, about, err := sample(ctx, engine, sampled)
	if err != nil {
		return fmt.Errorf("see what is inserted: %w", err)
	}
	report.describe(engine, about, samples)
	references, err := referencesOf(engine, dir, samples)
	if err != nil {
		return err
	}
	ways := append([]way{{name: "annals", open: p.contend(engine)}}, references...)
	bar := bench.Watch(engine.String()+": remember", len(o.clients)*o.rounds*len(ways))
	defer bar.End()
	for _, clients := range o.clients {
		runs := make([][]outcome, len(ways))
		for range o.rounds {
			for i, w := range ways {
				run, err := w.takeTurn(ctx, clients, o.time)
				if err != nil {
					return fmt.Errorf("%s, %d clients: %w", w.name, clients, err)
				}
				runs[i] = append(runs[i], run)
				bar.Add(1)
			}
		}
		report.addRates(engine, clients, ways, runs)
	}
	return nil
}

func (w way) takeTurn(ctx context.Context, clients int, length time.Duration) (run outcome, err error) {
	c, err := w.open(ctx)
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	before := c.cpu()
	run, err = c.run(ctx, clients, length)
	run.cpu = c.cpu() - before
	return run, err
}

func referencesOf(engine database.Engine, dir string, samples []written) ([]way, error) {
	if engine == database.SQLite {
		return plainSQLites(samples), nil
	}
	return pgbenches(dir, samples)
}

// contend makes the program remember what clients send it.
func (p program) contend(engine database.Engine) func(context.Context) (*contender, error) {
	author := newAuthor(2)
	requests := make([][]byte, bodies)
	for i := range requests {
		requests[i] = requestOf(author.write().body())
	}
	return func(ctx context.Context) (*contender, error) {
		s, stop, err := p.serve(ctx, engine)
		if err != nil {
			return nil, err
		}
		cluster, err := clusterOf(ctx, engine, s.database)
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		return &contender{
			run: func(ctx context.Context, clients int, length time.Duration) (outcome, error) {
				return s.remember(ctx, requests, clients, length)
			},
			cpu:   func() time.Duration { return processTime(s.command.Process.Pid) + cluster() },
			close: stop,
		}, nil
	}
}

// serve starts a server on a fresh database. stop ends it and removes the database.
func (p program) serve(ctx context.Context, engine database.Engine) (s *server, stop func() error, err error) {
	address, remove, err := bench.Place(ctx, engine)
	if err != nil {
		return nil, nil, err
	}
	data, err := os.MkdirTemp("", "annals-bench-")
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	away := func() error { return errors.Join(remove(), os.RemoveAll(data)) }
	s, err = p.start(address, data)
	if err != nil {
		return nil, nil, errors.Join(err, away())
	}
	stop = func() error { return errors.Join(s.stop(), away()) }
	if _, err := s.ready(ctx); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return s, stop, nil
}
