package events

import (
	"context"
	"time"

	"github.com/annals-kb/annals/background"
)

const (
	attemptsAtPage  = 5 // until it is given up for now, or taken apart
	attemptsAtEvent = 3 // until its stream is put into quarantine
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
// once: whoever asks why a projection stands still does not wait until it is given up for now.
func (l *Log) retryPage(ctx context.Context, projection string, page Page, prepare Preparer, attempts int) error {
	return background.Backoff{Shortest: 50 * time.Millisecond, Longest: time.Second}.Retry(ctx, func() (done bool, err error) {
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
