package events

import (
	"context"
	"errors"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// isPoison tells whether a page failed because of what is in it, and would fail again for ever. The
// database, a model or the network being away is no reason to pass anything over, and neither is an event
// that only a newer program understands: all of these pass, for every stream alike.
func isPoison(err error) bool {
	for _, passing := range []error{
		context.Canceled, context.DeadlineExceeded, domain.ErrUnavailable, domain.ErrBusy,
		database.ErrUnavailable, database.ErrOutcomeUnknown, database.ErrFull,
		codec.ErrUnknownFact, ErrHole, ErrRestored, errCrowded,
	} {
		if errors.Is(err, passing) {
			return false
		}
	}
	return !database.IsInfrastructureError(err)
}
