package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/proof"
	"github.com/annals-kb/annals/scripts/bench"
)

// measure writes to a fresh database while everything follows that follows in a server.
func measure(ctx context.Context, engine database.Engine, o options, r *report) error {
	return bench.Afresh(ctx, engine, r.Engines, func(db *database.DB) error { return measureOn(ctx, db, o, r) })
}

func measureOn(ctx context.Context, db *database.DB, o options, r *report) (err error) {
	quiet := slog.New(slog.DiscardHandler)
	base, err := projections.Open(ctx, db, projections.Settings{Logger: quiet})
	if err != nil {
		return err
	}
	log := events.NewLog(db, base, events.Options{Logger: quiet})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	past, err := projections.OpenPast(ctx, base, log)
	if err != nil {
		return err
	}
	router, err := events.NewRouter(quiet)
	if err != nil {
		return err
	}
	watches := []*watch{newWatch("meaning"), newWatch("past")}
	events.AddPreparer(router, log, base.Meaning().Name(), watches[0].over(base.Meaning().Prepare))
	events.AddPreparer(router, log, past.Name(), watches[1].over(past.Prepare))
	stop, err := beside(ctx, db, log, base, router)
	if err != nil {
		return err
	}
	answered, lasted, err := write(ctx, log, o)
	if err == nil {
		err = caughtUp(ctx, log, base.Meaning().Name(), past.Name(), len(answered))
	}
	var rate float64
	var late map[string][]time.Duration
	followers := []string{proof.Name, past.Name(), base.Meaning().Name()}
	if err == nil {
		rate, late, err = flatOut(ctx, log, o, len(answered), followers...)
	}
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	for _, name := range followers {
		s := bench.SpreadOf(late[name])
		r.Behind = append(r.Behind, behind{
			Engine: db.Engine.String(), Rate: rate, Projection: name,
			P50: bench.Milliseconds(s.P50), P95: bench.Milliseconds(s.P95), Most: bench.Milliseconds(slices.Max(late[name])),
		})
	}
	r.note(db.Engine, "(the write itself)", lasted)
	for _, w := range watches {
		r.note(db.Engine, w.name, w.lags(answered))
	}
	return nil
}

// beside starts what else a server does, and the router; stop ends all of it.
func beside(ctx context.Context, db *database.DB, log *events.Log, base *projections.Knowledge, router *message.Router) (stop func() error, err error) {
	keys, err := os.MkdirTemp("", "annals-bench-")
	if err != nil {
		return nil, err
	}
	key, err := proof.EnsureKey(keys, "bench")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(keys))
	}
	prover := proof.NewProver(db, log, key, proof.Options{Logger: slog.New(slog.DiscardHandler)})
	prover.Follow(router)
	working, end := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { base.CompactAll(working, log) })
	background.Go(func() { prover.Keep(working) })
	ended := make(chan error, 1)
	go func() { ended <- router.Run(working) }()
	<-router.Running()
	return func() error {
		end()
		err := errors.Join(router.Close(), <-ended)
		background.Wait()
		return errors.Join(err, os.RemoveAll(keys))
	}, nil
}

// write remembers, votes and revises in turns, one after the other at a steady rate. It gives when each position was
// answered, and how long that took.
func write(ctx context.Context, log *events.Log, o options) (answered []time.Time, lasted []time.Duration, err error) {
	by := domain.OpenPrincipal()
	tick := time.NewTicker(time.Second / time.Duration(o.rate))
	defer tick.Stop()
	bar := bench.Watch("write", int(o.lasting.Seconds()*float64(o.rate)))
	defer bar.End()
	for i := range int(o.lasting.Seconds() * float64(o.rate)) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		command, err := commandOf(by, i)
		if err != nil {
			return nil, nil, err
		}
		began := time.Now()
		if _, err := log.Submit(ctx, domain.Submission{By: by, Command: command}); err != nil {
			return nil, nil, err
		}
		answered, lasted = append(answered, time.Now()), append(lasted, time.Since(began))
		bar.Add(1)
	}
	return answered, lasted, nil
}

// commandOf is a command that records one event.
func commandOf(by domain.Principal, i int) (domain.Command, error) {
	target := domain.Target{By: by, ID: fmt.Sprint("item-", i/4*4)}
	said := fmt.Sprintf("lesson %d: retry the payment call with backoff and jitter, at most %d times, and log what was dropped", i, i%7)
	switch i % 4 {
	case 1:
		return domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: fmt.Sprint(i)}, nil
	case 2:
		return domain.Revise{Target: target, Changes: domain.Revised{Content: &said}}, nil
	}
	return domain.Remember{By: by, ID: fmt.Sprint("item-", i), Knowledge: domain.Remembered{
		Type: domain.Strategy, Owner: "org:acme", Scopes: []domain.Scope{"team:pay", "public"}, Text: domain.Text{Content: said},
	}}.Complete()
}

// caughtUp waits until both have read everything.
func caughtUp(ctx context.Context, log *events.Log, meaning, past string, head int) error {
	for _, name := range []string{meaning, past} {
		if err := log.Await(ctx, name, domain.DefaultTenant, int64(head)); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) note(engine database.Engine, projection string, lags []time.Duration) {
	s := bench.SpreadOf(lags)
	r.Lags = append(r.Lags, lag{
		Engine: engine.String(), Projection: projection, Writes: len(lags),
		P50: bench.Milliseconds(s.P50), P95: bench.Milliseconds(s.P95), P99: bench.Milliseconds(s.P99),
	})
}
