package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/annals-kb/annals/events"
)

// work does what nobody waits for, until ctx ends: projections follow the log, and indices are
// built when they have become worth while.
func (s *service) work(ctx context.Context) error {
	router, err := events.NewRouter(s.logger)
	if err != nil {
		return err
	}
	s.knowledge.Meaning().Follow(router, s.log)
	var working sync.WaitGroup
	working.Go(func() { s.buildGraphs(ctx) })
	var failed error
	working.Go(func() { failed = router.Run(ctx) })
	<-ctx.Done()
	err = router.Close()
	working.Wait()
	return errors.Join(failed, err)
}

// betweenBuilds is how long an index that has become worth while is waited for.
const betweenBuilds = 10 * time.Minute

func (s *service) buildGraphs(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.knowledge.Meaning().BuildGraph(ctx); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "an index of vectors was not built; it is tried again", "error", err, "after", betweenBuilds.String())
		}
		select {
		case <-time.After(betweenBuilds):
		case <-ctx.Done():
		}
	}
}
