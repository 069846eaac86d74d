package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// outcome is how long clients worked, and how long each of their calls took.
type outcome struct {
	took  time.Duration
	calls int
	times []time.Duration // unknown for pgbench
}

func (o outcome) rate() float64 { return float64(o.calls) / o.took.Seconds() }

// repeat runs so many clients, made by connect, which call do until the time is over or a call fails.
func repeat(
	ctx context.Context, clients int, length time.Duration,
	connect func() (do func(i int64) error, end func() error, err error),
) (outcome, error) {
	times := make([][]time.Duration, clients)
	var next atomic.Int64
	working, stopping := errgroup.WithContext(ctx)
	began := time.Now()
	for n := range clients {
		working.Go(func() (err error) {
			do, end, err := connect()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, end()) }()
			for time.Since(began) < length && stopping.Err() == nil {
				start := time.Now()
				if err := do(next.Add(1)); err != nil {
					return err
				}
				times[n] = append(times[n], time.Since(start))
			}
			return nil
		})
	}
	err := cmp.Or(working.Wait(), ctx.Err())
	o := outcome{took: time.Since(began), times: slices.Concat(times...)}
	o.calls = len(o.times)
	return o, err
}
