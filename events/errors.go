package events

import (
	"errors"
	"fmt"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// What can be wrong with a log. Match with [errors.Is].
var (
	// ErrHole says that a position or a version is missing. Events are never deleted, so the log is damaged.
	ErrHole = errors.New("hole in the log")
	// ErrRestored says that the log was restored to an earlier state: a checkpoint is beyond its head, or names
	// another event. What was read since then is no longer in the log.
	ErrRestored = errors.New("log was restored to an earlier state")
)

// holeError names the missing position or version. It matches [ErrHole].
type holeError struct {
	tenant, stream string // stream is empty for a hole in the log itself
	missing        int64
}

func (e holeError) Unwrap() []error {
	refusal := domain.Refuse(domain.ErrBroken, "%s", e.Error())
	return []error{ErrHole, refusal.WithFix("annals verify names everything that is missing")}
}

func (e holeError) Error() string {
	if e.stream != "" {
		return fmt.Sprintf("the stream %s of tenant %s has no version %d: the log is damaged, restore a backup",
			e.stream, e.tenant, e.missing)
	}
	return fmt.Sprintf("the log of tenant %s has no position %d: it is damaged, restore a backup", e.tenant, e.missing)
}

// Unavailable marks a temporary error of the database for callers.
func Unavailable(err error) error {
	if isPassing(err) {
		return passing(err)
	}
	return err
}

// passing is the error for callers after a temporary error of the database.
func passing(err error) error {
	if remedied := WithRemedy(err, "recorded"); remedied != nil {
		return remedied
	}
	return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
}

// WithRemedy adds a remedy to an error of the database that has one of its own, and says what was not done, such as
// "recorded"; nil for other errors.
func WithRemedy(err error, undone string) error {
	var refusal *domain.Refusal
	switch {
	case errors.Is(err, database.ErrFull):
		refusal = domain.Full(undone)
	case errors.Is(err, database.ErrReadOnly):
		refusal = domain.ReadOnly(undone)
	case errors.Is(err, database.ErrOutdated):
		refusal = domain.Outdated()
	case errors.Is(err, database.ErrTableMissing):
		refusal = domain.Replaced()
	default:
		return nil
	}
	return fmt.Errorf("%w: %w", refusal, err)
}

func isPassing(err error) bool {
	return errors.Is(err, database.ErrUnavailable) || errors.Is(err, database.ErrOutcomeUnknown) ||
		errors.Is(err, database.ErrFull) || isRepeatable(err)
}

// isRepeatable tells whether the same transaction may succeed at once.
func isRepeatable(err error) bool {
	return errors.Is(err, database.ErrCollision) || errors.Is(err, database.ErrTableMissing)
}
