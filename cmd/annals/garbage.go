package main

import (
	"context"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
	"time"
)

const (
	// fewTimes is how many times as much garbage as there is alive comes together at most before it is collected,
	// in percent; a program collects at 100 unless it is told otherwise.
	fewTimes = 400
	// muchGarbage is how many bytes of it come together at most, if less is alive.
	muchGarbage = 512 << 20
	// lookAtHeap is how often it is looked how much is alive.
	lookAtHeap = time.Second
)

// collectLess lets garbage of up to four times what is alive come together before it is collected, as long as that is
// not much, until end is called. A small server keeps little alive and leaves much behind: collecting that took a
// quarter of the processor while it was written to. Whoever sets GOGC knows better.
func collectLess(ctx context.Context) (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	debug.SetGCPercent(fewTimes)
	looking.Go(func() {
		for now := fewTimes; ; {
			select {
			case <-time.After(lookAtHeap):
			case <-ctx.Done():
				return
			}
			// All threads stop for a moment at a change: not for a few percent.
			if percent := garbagePercent(alive()); max(percent, now)-min(percent, now) > now/10 {
				debug.SetGCPercent(percent)
				now = percent
			}
		}
	})
	return func() {
		cancel()
		looking.Wait()
	}
}

// garbagePercent is how many percent of what is alive may be garbage.
func garbagePercent(alive uint64) int {
	return int(min(max(100*muchGarbage/max(alive, 1), 100), fewTimes))
}

// alive is how many bytes the last collection left.
func alive() uint64 {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(sample)
	return sample[0].Value.Uint64()
}
