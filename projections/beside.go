package projections

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/annals-kb/annals/database"
)

// carefulTime is for how long every version is written by itself after a statement has failed.
const carefulTime = time.Minute

// takeCare remembers that a statement failed for another reason than that the database is away. It may
// have been because of a version that nobody reads: the transactions that follow find out which.
func (p *Knowledge) takeCare(ctx context.Context, versions int, err error) error {
	if err = database.Classify(ctx, err); err != nil && versions > 1 && !isAway(err) {
		p.carefulUntil.Store(time.Now().Add(carefulTime).UnixNano())
	}
	return err
}

// careful tells whether versions beside the active one are to be read and written each by itself.
func (p *Knowledge) careful() bool { return time.Now().UnixNano() < p.carefulUntil.Load() }

func isAway(err error) bool {
	away := []error{database.ErrUnavailable, database.ErrFull, context.Canceled, context.DeadlineExceeded}
	return slices.ContainsFunc(away, func(kind error) bool { return errors.Is(err, kind) })
}

// beside does something for each version beside the active one. Where it fails the version has failed,
// and the transaction goes on as if it had not been tried.
func (all stages) beside(ctx context.Context, do func(*stage) error) error {
	for _, s := range all[1:] {
		if s.failed != nil {
			continue
		}
		if _, err := s.tx.ExecContext(ctx, "SAVEPOINT beside"); err != nil {
			return err
		}
		err := do(s)
		if err = database.Classify(ctx, err); err != nil && isAway(err) {
			return err
		}
		if s.failed = err; err != nil {
			if _, err := s.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT beside"); err != nil {
				return err
			}
		}
		if _, err := s.tx.ExecContext(ctx, "RELEASE SAVEPOINT beside"); err != nil {
			return err
		}
	}
	return nil
}

// flush writes one version.
func (s *stage) flush(ctx context.Context) error {
	script := &script{engine: s.projection.db.Engine}
	if err := s.write(script); err != nil {
		return err
	}
	return script.run(ctx, s.tx)
}

// abandonFailed ends the writing of versions that failed.
func (all stages) abandonFailed(ctx context.Context) error {
	for _, s := range all[1:] {
		if s.failed == nil {
			continue
		}
		p := s.projection
		p.log.ErrorContext(ctx, "a version that nobody reads cannot be written and is given up",
			"version", s.version.Version, "error", s.failed)
		state := stateFailed
		if s.version.State == stateDraining {
			state = stateRetired
		}
		query := abandonVersion(s.tx, s.version.entry, state, s.failed, database.At(p.now())).Where("state <> ?", stateActive)
		if _, err := query.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
