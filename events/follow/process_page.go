package follow

import (
	"context"
	"errors"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/codec"
)

// processPage handles a page, a few times if need be. If what is in it is at fault, it finds the events
// that are, puts their streams into quarantine, and takes in everything else.
func (l *Log) processPage(ctx context.Context, projection string, page Page, prepare Preparer, attempts int) error {
	if len(page.Events) == 1 {
		attempts = max(attempts, attemptsAtEvent)
	}
	err := l.retryPage(ctx, projection, page, prepare, attempts)
	switch {
	case err == nil || !isPoison(err) || page.quarantine == nil:
		return err
	case len(page.Events) == 1:
		return l.quarantineStream(ctx, projection, page, err, attempts)
	}
	first, second := page.halves()
	if err := l.processPage(ctx, projection, first, prepare, 1); err != nil {
		return err
	}
	return l.processPage(ctx, projection, second, prepare, 1)
}

// retryPage tries a page until it succeeds, so many times. What has nothing to do with the page is noted at
// once, so that the status says at once why a projection stands still.
func (l *Log) retryPage(ctx context.Context, projection string, page Page, prepare Preparer, attempts int) error {
	return betweenAttempts.Retry(ctx, func() (done bool, err error) {
		err = l.handleSafely(ctx, projection, page, prepare)
		if attempts--; err == nil || attempts <= 0 {
			return true, err
		}
		if !isPoison(err) && ctx.Err() == nil {
			l.lastErrors.note(projection, page.Tenant, err)
		}
		return false, err
	})
}

// isPoison tells whether a page failed because of what is in it, and would fail again for ever. The
// database, a model or the network being away is no reason to pass anything over, and neither is an event
// that only a newer program understands: all of these pass, for every stream alike.
func isPoison(err error) bool {
	for _, passing := range []error{
		context.Canceled, context.DeadlineExceeded, domain.ErrUnavailable, domain.ErrBusy,
		database.ErrUnavailable, database.ErrOutcomeUnknown, database.ErrFull,
		codec.ErrUnknownFact, events.ErrHole, events.ErrRestored, errCrowded,
	} {
		if errors.Is(err, passing) {
			return false
		}
	}
	return !database.IsInfrastructureError(err)
}
