package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// outcome is what clients got done in a run, and how long each thing took.
type outcome struct {
	took  time.Duration
	cpu   time.Duration // used by what did it
	ask   time.Duration // used by whoever asked for it, where that is this program and does nothing else
	times []time.Duration
}

func (o outcome) rate() float64 { return float64(len(o.times)) / o.took.Seconds() }

// keepDoing lets so many clients do something again and again until the time is over. The first error ends it.
func keepDoing(ctx context.Context, clients int, length time.Duration, client func() (do func(i int64) error, end func() error, err error)) (outcome, error) {
	var o outcome
	var failure error
	var mu sync.Mutex
	var running sync.WaitGroup
	var next atomic.Int64
	var broken atomic.Bool
	did := func(times []time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		o.times = append(o.times, times...)
		if err != nil && failure == nil {
			failure = err
			broken.Store(true)
		}
	}
	began := time.Now()
	for range clients {
		running.Go(func() {
			do, end, err := client()
			if err != nil {
				did(nil, err)
				return
			}
			var times []time.Duration
			for err == nil && time.Since(began) < length && ctx.Err() == nil && !broken.Load() {
				asked := time.Now()
				if err = do(next.Add(1)); err == nil {
					times = append(times, time.Since(asked))
				}
			}
			if ended := end(); err == nil {
				err = ended
			}
			did(times, err)
		})
	}
	running.Wait()
	o.took = time.Since(began)
	if failure == nil {
		failure = ctx.Err()
	}
	return o, failure
}
