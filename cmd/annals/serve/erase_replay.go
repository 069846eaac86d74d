package serve

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/erasure"
)

// Replayed counts the results of a list of erasures.
type Replayed struct {
	Erased  int `json:"erased"`
	Known   int `json:"erased_before"`
	Unknown int `json:"unknown"`
	Held    int `json:"held"` // held again since the erasure

	Revoked       int `json:"revoked"` // keys
	RevokedBefore int `json:"revoked_before"`
	Rotated       int `json:"rotated"`
	RotatedBefore int `json:"rotated_before"`
	Demoted       int `json:"demoted"`
	DemotedBefore int `json:"demoted_before"` // or the key got a role since that the list does not know

	UnknownStreams []string `json:"not_known"`
}

// CheckExists refuses a database that does not exist: a replay on a new one would appear to succeed.
func CheckExists(ctx context.Context, cfg Config, logger *slog.Logger) error {
	db, err := database.OpenReadOnly(ctx, cfg.Database, logger)
	if err != nil {
		return err
	}
	return db.Close()
}

// ReplayList repeats the erasures of a list, each in its tenant.
func ReplayList(
	ctx context.Context, log *events.Log, eraser *erasure.Eraser, list []Erasure,
) (done Replayed, err error) {
	done.UnknownStreams = []string{}
	list = lastOfEach(list)
	// Tenants come last: their erasure would keep an item under an ended hold, which its own line releases.
	for _, tenants := range []bool{false, true} {
		for _, line := range list {
			if line.IsTenant() != tenants {
				continue
			}
			if err := done.replay(ctx, log, eraser, line); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// replay repeats one erasure.
func (r *Replayed) replay(ctx context.Context, log *events.Log, eraser *erasure.Eraser, line Erasure) error {
	ctx = database.ForTenant(ctx, line.Tenant)
	if line.IsTenant() {
		return r.tenant(ctx, log, eraser, line)
	}
	if line.OfKey() != "" {
		return r.key(ctx, log, line)
	}
	target := domain.ErasureTarget{Stream: line.Stream}
	if id, isItem := domain.ItemOf(line.Stream); isItem {
		target.ID = id
	} else if left, err := r.left(ctx, log, line); err != nil || !left.Exists() {
		return err
	} else {
		target.State = left.State
	}
	erasing := line.submission()
	erasing.Command = target.EraseCommand(erasing.By, line.reason())
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

// left is a stream, other than that of an item, that must still be erased; none if it is unknown or was erased
// before. Its later events stay: a session can be created again, and a list may be applied at every start.
func (r *Replayed) left(ctx context.Context, log *events.Log, line Erasure) (none domain.Stream, err error) {
	stream, err := log.Reader.State(ctx, line.Tenant, line.Stream)
	if err != nil {
		return none, err
	}
	if !stream.Exists() {
		r.unknown(line)
		return none, nil
	}
	erased, err := log.Erasures.ErasedBy(ctx, line.Tenant, line.Stream, line.EventID)
	if erased {
		r.Known++
	}
	if erased || err != nil {
		return none, err
	}
	return stream, nil
}

func (r *Replayed) unknown(line Erasure) {
	r.Unknown++
	r.UnknownStreams = append(r.UnknownStreams, line.Stream)
}

// releasedBefore is the reason code of a release that is repeated.
const releasedBefore = "released_before_erasure"

// release ends a legal hold that had ended before the erasure, but that the backup still has. A hold after the
// erasure stays: the backup was in use without the list.
func (e Erasure) release(ctx context.Context, log *events.Log, erasing domain.Submission) error {
	id, isItem := domain.ItemOf(e.Stream)
	if !isItem {
		return nil
	}
	history, err := log.Reader.Stream(ctx, e.Tenant, e.Stream)
	if err != nil {
		return err
	}
	for _, event := range history {
		if _, held := event.Fact.(domain.Held); held && event.RecordedAt.After(e.RecordedAt) {
			return nil
		}
	}
	_, err = log.Submit(ctx, domain.Submission{
		By: erasing.By, Origin: erasing.Origin,
		Command: domain.Release{Target: domain.Target{By: erasing.By, ID: id}, ReasonCode: releasedBefore, Ticket: e.Ticket},
	})
	return err
}

// key repeats the revocation, rotation or role change of a key. A key that was issued after the line is another key.
func (r *Replayed) key(ctx context.Context, log *events.Log, line Erasure) error {
	stream, err := log.Reader.State(ctx, line.Tenant, line.Stream)
	if err != nil {
		return err
	}
	key, _ := stream.State.(domain.Key)
	if !stream.Exists() || key.CreatedAt.After(line.RecordedAt) {
		r.unknown(line)
		return nil
	}
	submission, prefix := line.submission(), domain.KeyStreams.ID(line.Stream)
	now, before, done := &r.Revoked, &r.RevokedBefore, false
	switch line.OfKey() {
	case Revocation:
		submission.Command = domain.RevokeKey{By: submission.By, Prefix: prefix}
		done = !key.RevokedAt.IsZero()
	case Rotation: // the new key is lost: only its holder knows it
		now, before = &r.Rotated, &r.RotatedBefore
		submission.Command = domain.RotateKey{By: submission.By, Prefix: prefix, Next: line.ReplacedBy, Until: line.Until}
		done = key.ReplacedBy != "" || key.CheckValid(time.Now()) != nil
	case RoleChange: // never raises a role: root promotes a key that was promoted after the backup
		now, before = &r.Demoted, &r.DemotedBefore
		change := domain.ChangeRole{By: submission.By, Prefix: prefix, Role: key.Role.Lowered(line.Role)}
		submission.Command = change
		history, err := log.Reader.Stream(ctx, line.Tenant, line.Stream)
		if err != nil {
			return err
		}
		done = change.Role == key.Role || slices.ContainsFunc(history, func(event domain.Event) bool {
			return event.Name == RoleChange && !event.RecordedAt.Before(line.RecordedAt)
		})
	}
	if done {
		*before++
		return nil
	}
	if _, err := log.Submit(ctx, submission); err != nil {
		return err
	}
	*now++
	return nil
}

// IsTenant tells whether the line is the erasure of the tenant itself.
func (e Erasure) IsTenant() bool {
	name, is := domain.TenantOf(e.Stream)
	return is && name == e.Tenant
}

// tenant repeats the erasure of a tenant and everything in it; afterwards only root has access. A tenant that was
// created after the erasure is another one.
func (r *Replayed) tenant(ctx context.Context, log *events.Log, eraser *erasure.Eraser, line Erasure) error {
	if line.Tenant == domain.DefaultTenant {
		return r.defaultTenant(ctx, eraser, line)
	}
	stream, err := log.Reader.State(database.ForTenant(ctx, domain.SystemTenant), domain.SystemTenant, line.Stream)
	if err != nil {
		return err
	}
	if state, _ := stream.State.(domain.Tenant); !stream.Exists() || state.CreatedAt.After(line.RecordedAt) {
		r.unknown(line)
		return nil
	}
	order, err := log.Erasures.OrderedBy(ctx, line.Tenant, line.EventID)
	if err != nil {
		return err
	}
	if order.Stream != "" {
		r.Known++
		return eraser.CarryOutOrder(ctx, order)
	}
	ordering := line.submission()
	ordering.Command = domain.OrderErasure{
		By: ordering.By, ID: line.EventID, Of: line.Stream,
		ErasureReason: line.reason(),
	}
	receipt, err := log.Submit(ctx, ordering)
	if err != nil {
		return err
	}
	r.Erased++
	return eraser.CarryOutOrder(ctx, events.Order{Tenant: line.Tenant, Stream: receipt.Stream.Name})
}

// defaultTenant revokes the keys that existed at the erasure of everything in the default tenant. That tenant
// continues to exist, so later writes stay. The list names everything else.
func (r *Replayed) defaultTenant(ctx context.Context, eraser *erasure.Eraser, line Erasure) error {
	revoking := line.submission()
	revoked, err := eraser.RevokeKeys(ctx, revoking.By, revoking.Origin, line.RecordedAt, "")
	if err != nil {
		return err
	}
	if revoked > 0 {
		r.Erased++
	} else {
		r.Known++
	}
	return nil
}
