package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

// measureStarts starts the program again and again: with an empty directory, or an empty database, each time, and then with
// what is there from before.
func measureStarts(ctx context.Context, p program, engine database.Engine, o options, report *report) error {
	var cold, warm []time.Duration
	for range o.starts {
		c, w, err := p.startTwice(ctx, engine)
		if err != nil {
			return err
		}
		cold, warm = append(cold, c), append(warm, w)
	}
	report.addStarts(engine, cold, warm)
	return nil
}

func (p program) startTwice(ctx context.Context, engine database.Engine) (cold, warm time.Duration, err error) {
	address, away, err := bench.Place(ctx, engine)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, away()) }()
	data, err := os.MkdirTemp("", "annals-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	for _, took := range []*time.Duration{&cold, &warm} {
		s, err := p.start(address, data)
		if err != nil {
			return 0, 0, err
		}
		*took, err = s.ready(ctx)
		if err = errors.Join(err, s.stop()); err != nil {
			return 0, 0, err
		}
	}
	return cold, warm, nil
}
