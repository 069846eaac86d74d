package serve

import (
	"context"
	"sync"
	"time"

	"github.com/annals-kb/annals/events"
)

// Work does what nobody waits for, until ctx ends: projections follow the log, knowledge is extracted from sessions, long items are summarised, its proof grows and is signed, indices are built when
// they have become worth while, sketches of what is searched are held in memory, words are moved into their index, interrupted rebuilds go on, and versions that nobody uses are dropped.
func (s *Service) Work(ctx context.Context) error {
	router, err := events.NewRouter(s.logger)
	if err != nil {
		return err
	}
	s.knowledge.FollowMeaning(router, s.log)
	s.past.Follow(router)
	s.prover.Follow(router)
	s.worker.Follow(router)
	if s.summaries != nil {
		s.summaries.Follow(router)
	}
	if s.forwarder != nil {
		s.forwarder.Follow(router)
	}
	var working sync.WaitGroup
	working.Go(func() { s.knowledge.MaintainModels(ctx) })
	working.Go(func() { s.accesses.Run(ctx) })
	working.Go(func() { s.buildGraphs(ctx) })
	working.Go(func() { s.knowledge.Meaning().HoldSketches(ctx) })
	working.Go(func() { s.tendVersions(ctx) })
	working.Go(func() { s.prover.Keep(ctx) })
	working.Go(func() { s.eraser.Run(ctx) })
	working.Go(func() { s.sweepFiles(ctx, s.sweepAfter) })
	working.Go(func() { s.knowledge.CompactAll(ctx, s.log) })
	working.Go(func() { s.writeUses(ctx) })
	working.Go(func() { s.introduce(ctx) })
	working.Go(func() { s.knock(ctx) })
	working.Go(func() { s.worker.Retry(ctx) })
	if s.directories != nil {
		working.Go(func() { s.directories.Run(ctx) })
	}
	err = events.Run(ctx, router)
	<-ctx.Done()
	working.Wait()
	return err
}

// betweenBuilds is how long an index that has become worth while is waited for.
const betweenBuilds = 10 * time.Minute

func (s *Service) buildGraphs(ctx context.Context) {
	for ctx.Err() == nil {
		for _, meaning := range s.knowledge.Meanings() {
			if err := meaning.BuildGraph(ctx); err != nil && ctx.Err() == nil {
				s.logger.WarnContext(ctx, "an index of vectors was not built; it is tried again", "error", err, "after", betweenBuilds.String())
			}
		}
		select {
		case <-time.After(betweenBuilds):
		case <-ctx.Done():
		}
	}
}

// betweenRounds is how long an interrupted rebuild, or a version to be dropped, may lie about.
const betweenRounds = 10 * time.Second

func (s *Service) tendVersions(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.rebuilder.Resume(ctx); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "an interrupted rebuild does not go on; it is tried again", "error", err, "after", betweenRounds.String())
		}
		if err := s.knowledge.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "a version was not dropped; it is tried again", "error", err, "after", betweenRounds.String())
		}
		select {
		case <-time.After(betweenRounds):
		case <-ctx.Done():
		}
	}
}
