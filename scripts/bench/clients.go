package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// outcome is what clients got done, and how long each call took.
type outcome struct {
	took  time.Duration
	times []time.Duration
}

func (o outcome) rate() float64 { return float64(len(o.times)) / o.took.Seconds() }

// repeat lets so many clients call do until the time is over or a call fails. Each client is made by connect.
func repeat(ctx context.Context, clients int, length time.Duration, connect func() (do func(i int64) error, end func() error, err error)) (outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var o outcome
	var mu sync.Mutex
	var running sync.WaitGroup
	var next atomic.Int64
	began := time.Now()
	for range clients {
		running.Go(func() {
			do, end, err := connect()
			if err != nil {
				cancel(err)
				return
			}
			var times []time.Duration
			for err == nil && time.Since(began) < length && ctx.Err() == nil {
				asked := time.Now()
				if err = do(next.Add(1)); err == nil {
					times = append(times, time.Since(asked))
				}
			}
			if ended := end(); err == nil {
				err = ended
			}
			if err != nil {
				cancel(err)
			}
			mu.Lock()
			defer mu.Unlock()
			o.times = append(o.times, times...)
		})
	}
	running.Wait()
	o.took = time.Since(began)
	return o, context.Cause(ctx)
}
