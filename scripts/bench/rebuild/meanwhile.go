package main

import (
	"sync"
	"time"
)

// meanwhile looks at something every so often while something else is done, at least once.
func meanwhile(often time.Duration, look func(), do func() error) error {
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for ticks := time.Tick(often); ; {
			look()
			select {
			case <-ticks:
			case <-done:
				return
			}
		}
	})
	err := do()
	close(done)
	looking.Wait()
	return err
}
