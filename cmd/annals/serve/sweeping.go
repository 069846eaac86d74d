package serve

import (
	"context"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// eraseAgain erases what a list names, before anybody reads it.
func (s *Service) eraseAgain(ctx context.Context, list []Erasure) error {
	if len(list) == 0 {
		return nil
	}
	done, err := ReplayList(ctx, s.log, s.eraser, list)
	if err == nil {
		s.logger.InfoContext(ctx, "erased what a list names",
			"erased", done.Erased, "before", done.Known, "unknown", done.Unknown, "held", done.Held, "revoked", done.Revoked, "rotated", done.Rotated, "demoted", done.Demoted, "not_known", terminal.Enumerated(done.Strangers, done.Unknown))
	}
	return err
}

// betweenSweeps is how often somebody looks whether the files are to be rewritten.
const betweenSweeps = time.Minute

// sweepFiles rewrites the files when they have held what was erased for so long; 0 for never.
func (s *Service) sweepFiles(ctx context.Context, after time.Duration) {
	for after > 0 && ctx.Err() == nil {
		if err := s.sweepIfDue(ctx, after); err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "the files were not rewritten; it is tried again", "error", err, "after", betweenSweeps.String())
		}
		select {
		case <-time.After(min(after, betweenSweeps)):
		case <-ctx.Done():
		}
	}
}

// sweepIfDue begins early enough to be done in time, and leaves what could not be rewritten for as long again.
func (s *Service) sweepIfDue(ctx context.Context, after time.Duration) error {
	status, err := s.knowledge.Unswept(ctx, "")
	if err != nil || status.Unpurged == 0 || time.Since(status.Oldest) < after-min(after/2, betweenSweeps) ||
		status.Last != nil && time.Since(status.Last.BeganAt) < after {
		return err
	}
	done, err := s.knowledge.SweepFiles(ctx)
	switch {
	case err == nil && !done.Complete:
		s.logger.WarnContext(ctx, "the files were not rewritten as a whole, and may still hold what was erased", "notes", done.Notes, "for_owner", done.ForOwner)
	case err == nil:
		s.logger.InfoContext(ctx, "rewrote the files", "took", done.EndedAt.Sub(done.BeganAt).String())
	}
	return err
}
