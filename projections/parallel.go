package projections

import (
	"context"
	"sync"

	"github.com/uptrace/bun"
)

// maxParallel is how many connections one search takes at a time.
const maxParallel = 3

// inParallel runs tasks side by side, or one after the other where all read the same snapshot, and waits
// for all of them. With the first error the context of the others ends, and it is what together returns.
func (p *Knowledge) inParallel(ctx context.Context, tasks ...func(ctx context.Context) error) error {
	if _, isPool := p.reads.(*bun.DB); !isPool || len(tasks) == 1 {
		for _, task := range tasks {
			if err := task(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var fail sync.Once
	var failed error
	free := make(chan struct{}, maxParallel)
	for _, task := range tasks {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			if err := task(ctx); err != nil {
				fail.Do(func() { failed = err; cancel() })
			}
		})
	}
	running.Wait()
	return failed
}
