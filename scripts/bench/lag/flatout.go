package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// flatOut lets so many clients write as fast as they can, and looks every now and then how old the oldest event is that
// each projection has not read.
func flatOut(ctx context.Context, log *events.Log, o options, written int, projections ...string) (rate float64, behind map[string][]time.Duration, err error) {
	ctx, end := context.WithTimeout(ctx, o.lasting)
	defer end()
	by := domain.OpenPrincipal()
	began := time.Now()
	var working sync.WaitGroup
	var next, answered atomic.Int64
	next.Store(int64(written))
	failed := make([]error, o.clients)
	for client := range o.clients {
		working.Go(func() {
			for ctx.Err() == nil {
				command, err := commandOf(by, int(next.Add(1))*4) // items only: a vote would have to wait for its item
				if err == nil {
					_, err = log.Submit(ctx, domain.Submission{By: by, Command: command})
				}
				if err != nil && ctx.Err() == nil {
					failed[client] = err
					end()
				}
				answered.Add(1)
			}
		})
	}
	behind = map[string][]time.Duration{}
	for ctx.Err() == nil {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
		for _, name := range projections {
			f, err := log.Follower(context.WithoutCancel(ctx), name, by.Tenant)
			if err != nil {
				return 0, nil, err
			}
			behind[name] = append(behind[name], f.Lag)
		}
	}
	working.Wait()
	return float64(answered.Load()) / time.Since(began).Seconds(), behind, errors.Join(failed...)
}
