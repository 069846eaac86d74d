package follow

import (
	"context"
	"errors"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/codec"
)

// processPage handles a page, with retries. If events in the page are at fault, it puts their streams into quarantine
// and processes the others.
func (l *Followers) processPage(
	ctx context.Context, projection string, page Page, prepare Preparer, attempts int,
) error {
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

// retryPage tries a page several times. It records an error that is not the page's fault at once, so that the status
// shows why the projection is stalled.
func (l *Followers) retryPage(ctx context.Context, projection string, page Page, prepare Preparer, attempts int) error {
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

// isPoison tells whether the content of a page makes it fail permanently. An unavailable database, model or network
// is temporary, and so is an event that only a newer program can read: these affect every stream alike.
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
