package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/events/follow"
)

// Work runs the background work until ctx ends: subscriptions of the log, such as projections, and periodic steps.
func (s *Service) Work(ctx context.Context) error {
	router, err := follow.NewRouter(s.logger)
	if err != nil {
		return err
	}
	s.knowledge.FollowMeaning(router, s.log)
	s.past.Follow(router)
	s.prover.Follow(router)
	s.worker.Follow(router)
	s.subscriptions.Follow(router)
	if s.summaries != nil {
		s.summaries.Follow(router)
	}
	s.proposer.Follow(router)
	if s.forwarder != nil {
		s.forwarder.Follow(router)
	}
	var working sync.WaitGroup
	working.Go(func() { s.knowledge.MaintainModels(ctx) })
	working.Go(func() { s.accesses.Run(ctx) })
	working.Go(func() {
		name := "resume rebuilds and drop versions"
		s.every(ctx, 10*time.Second, name, func(ctx context.Context) error {
			return errors.Join(s.rebuilder.Resume(ctx), s.knowledge.Models.DropRetired(ctx),
				s.knowledge.Versions.DropRetired(ctx))
		})
	})
	working.Go(func() { s.prover.Keep(ctx) })
	working.Go(func() { s.eraser.Run(ctx) })
	if after := s.purgeAfter; after > 0 {
		working.Go(func() {
			s.every(ctx, min(after, betweenPurges), "purge files", func(ctx context.Context) error {
				return s.purgeIfDue(ctx, after)
			})
		})
	}
	if s.backups != nil {
		working.Go(func() { s.every(ctx, time.Minute, "make a backup", s.backups.makeIfDue) })
	}
	working.Go(func() { s.every(ctx, time.Minute, "measure the health of scopes", s.health.Refresh) })
	working.Go(func() { s.knowledge.IndexAllWords(ctx, s.log.Log) })
	if s.quotas != nil {
		working.Go(func() { s.quotas.Run(ctx) })
	}
	working.Go(func() { s.writeUses(ctx) })
	working.Go(func() { s.introduce(ctx) })
	working.Go(func() { s.knock(ctx) })
	working.Go(func() { s.worker.Retry(ctx) })
	working.Go(func() { s.subscriptions.Run(ctx) })
	if s.directories != nil {
		working.Go(func() { s.directories.Run(ctx) })
	}
	err = follow.Run(ctx, router)
	<-ctx.Done()
	working.Wait()
	return err
}

// every repeats a step until ctx ends. It logs a failed step and repeats it.
func (s *Service) every(ctx context.Context, interval time.Duration, name string, step func(context.Context) error) {
	for ctx.Err() == nil {
		if err := step(ctx); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "a background step failed and will be repeated",
				"step", name, "error", err, "after", interval.String())
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
		}
	}
}

// writeUses records the uses of keys, a last time after ctx has ended.
func (s *Service) writeUses(ctx context.Context) {
	s.every(ctx, 10*time.Second, "record uses of keys", s.keys.Write)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := s.keys.Write(last); err != nil {
		s.logger.WarnContext(last, "uses of keys were not recorded", "error", err)
	}
}

// eraseAgain applies a list of erasures before the server answers requests.
func (s *Service) eraseAgain(ctx context.Context, list []Erasure) error {
	if list == nil {
		return nil
	}
	done, err := ReplayList(ctx, s.log.Log, s.eraser, list)
	if err == nil {
		s.logger.InfoContext(ctx, "applied a list of erasures", "lines", len(list),
			"erased", done.Erased, "before", done.Known, "unknown", done.Unknown, "held", done.Held,
			"revoked", done.Revoked, "rotated", done.Rotated, "demoted", done.Demoted,
			"not_known", terminal.Enumerated(done.UnknownStreams, done.Unknown))
	}
	return err
}

// betweenPurges is the interval of checking whether a purge is due.
const betweenPurges = time.Minute

// purgeIfDue rewrites the files before they have held erased texts for too long. After an incomplete purge, it tries
// again after the same time.
func (s *Service) purgeIfDue(ctx context.Context, after time.Duration) error {
	status, err := s.knowledge.Unpurged(ctx, "")
	early := min(after/2, betweenPurges)
	if err != nil || status.Unpurged == 0 || time.Since(status.Oldest) < after-early ||
		status.Last != nil && time.Since(status.Last.BeganAt) < after {
		return err
	}
	done, err := s.knowledge.PurgeFiles(ctx)
	switch {
	case err == nil && !done.Complete:
		s.logger.WarnContext(ctx, "some files were not rewritten and may still hold erased texts",
			"notes", done.Notes, "for_owner", done.ForOwner)
	case err == nil:
		s.logger.InfoContext(ctx, "rewrote the files", "took", done.EndedAt.Sub(done.BeganAt).String())
	}
	return err
}
