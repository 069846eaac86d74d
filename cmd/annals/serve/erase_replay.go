package serve

import (
	"context"
	"errors"
	"log/slog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// Replayed counts what became of a list of erasures.
type Replayed struct {
	Erased  int `json:"erased"`
	Known   int `json:"erased_before"`
	Unknown int `json:"unknown"`
	Held    int `json:"held"` // since they were erased

	Revoked       int `json:"revoked"` // keys
	RevokedBefore int `json:"revoked_before"`
	Rotated       int `json:"rotated"`
	RotatedBefore int `json:"rotated_before"`
	Demoted       int `json:"demoted"`
	DemotedBefore int `json:"demoted_before"` // or has a role since that the list does not know

	Strangers []string `json:"not_known"` // the streams that are not known here
}

func (r Replayed) Empty() bool {
	keys := r.Revoked + r.RevokedBefore + r.Rotated + r.RotatedBefore + r.Demoted + r.DemotedBefore
	return r.Erased+r.Known+r.Unknown+r.Held+keys == 0
}

// IsThere refuses a database that does not exist: nothing could be erased in a new one, and that would look as if it
// had been.
func IsThere(ctx context.Context, cfg Config, logger *slog.Logger) error {
	db, err := database.OpenReadOnly(ctx, cfg.Database, logger)
	if err != nil {
		return err
	}
	return db.Close()
}

// ReplayList erases what a list names, tenant by tenant as it says.
func ReplayList(ctx context.Context, log *events.Log, eraser *projections.Eraser, list []Erasure) (done Replayed, err error) {
	done.Strangers = []string{}
	for _, line := range tenantsLast(lastOfEach(list)) {
		if err := done.replay(ctx, log, eraser, line); err != nil {
			return done, err
		}
	}
	return done, nil
}

// replay erases one thing again.
func (r *Replayed) replay(ctx context.Context, log *events.Log, eraser *projections.Eraser, line Erasure) error {
	ctx = database.ForTenant(ctx, line.Tenant)
	if line.IsTenant() {
		return r.tenant(ctx, log, eraser, line)
	}
	switch line.OfKey() {
	case Revocation:
		return r.revoke(ctx, log, line)
	case Rotation:
		return r.rotate(ctx, log, line)
	case RoleChange:
		return r.demote(ctx, log, line)
	}
	doomed := domain.ErasureTarget{Stream: line.Stream}
	if id, isItem := domain.ItemOf(line.Stream); isItem {
		doomed.ID = id
	} else if left, err := r.left(ctx, log, line); err != nil || !left.Exists() {
		return err
	} else {
		doomed.State = left.State
	}
	erasing := line.submission()
	erasing.Command = doomed.EraseCommand(erasing.By, line.grounds())
	receipt, err := log.Submit(ctx, erasing)
	if errors.Is(err, domain.ErrConflict) {
		if err = line.release(ctx, log, erasing); err == nil {
			receipt, err = log.Submit(ctx, erasing)
		}
	}
	switch {
	case errors.Is(err, domain.ErrConflict):
		r.Held++
	case errors.Is(err, domain.ErrNotFound):
		r.unknown(line)
	case err != nil:
		return err
	case len(receipt.Events) == 0:
		r.Known++
	default:
		r.Erased++
	}
	return nil
}

// left is a thing other than an item that is still to be erased; none if it is not known, or was erased before. What
// was said in it after that stays: a session can be begun again, and a list may be left set.
func (r *Replayed) left(ctx context.Context, log *events.Log, line Erasure) (none domain.Stream, err error) {
	stream, err := log.State(ctx, line.Tenant, line.Stream)
	if err != nil {
		return none, err
	}
	if !stream.Exists() {
		r.unknown(line)
		return none, nil
	}
	erased, err := log.ErasedBy(ctx, line.Tenant, line.Stream, line.EventID)
	if err != nil {
		return none, err
	}
	if erased {
		r.Known++
		return none, nil
	}
	return stream, nil
}

func (r *Replayed) unknown(line Erasure) {
	r.Unknown++
	r.Strangers = append(r.Strangers, line.Stream)
}
