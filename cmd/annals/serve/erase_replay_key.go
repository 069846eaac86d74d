package serve

import (
	"context"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// revoke takes a key back again.
func (r *Replayed) revoke(ctx context.Context, log *events.Log, line Erasure) error {
	key, known, err := r.key(ctx, log, line)
	if err != nil || !known {
		return err
	}
	if !key.RevokedAt.IsZero() {
		r.RevokedBefore++
		return nil
	}
	revoking := line.submission()
	revoking.Command = domain.RevokeKey{By: revoking.By, Prefix: domain.KeyPrefix(line.Stream)}
	if _, err := log.Submit(ctx, revoking); err != nil {
		return err
	}
	r.Revoked++
	return nil
}

// rotate lets a key end again when it did. The one that took its place does not come back: only its holder knows it.
func (r *Replayed) rotate(ctx context.Context, log *events.Log, line Erasure) error {
	key, known, err := r.key(ctx, log, line)
	if err != nil || !known {
		return err
	}
	if key.ReplacedBy != "" || key.CheckValid(time.Now()) != nil {
		r.RotatedBefore++
		return nil
	}
	rotating := line.submission()
	rotating.Command = domain.RotateKey{By: rotating.By, Prefix: domain.KeyPrefix(line.Stream), Next: line.ReplacedBy, Until: line.Until}
	if _, err := log.Submit(ctx, rotating); err != nil {
		return err
	}
	r.Rotated++
	return nil
}

// demote takes from a key again what it was not to have any more, unless its role was decided upon since. It gives no
// key more than it has: whoever was promoted after the backup is promoted by root.
func (r *Replayed) demote(ctx context.Context, log *events.Log, line Erasure) error {
	key, known, err := r.key(ctx, log, line)
	if err != nil || !known {
		return err
	}
	history, err := log.Stream(ctx, line.Tenant, line.Stream)
	if err != nil {
		return err
	}
	decided := slices.ContainsFunc(history, func(event domain.Event) bool {
		return event.Name == RoleChange && !event.RecordedAt.Before(line.RecordedAt)
	})
	demoting := line.submission()
	change := domain.ChangeRole{By: demoting.By, Prefix: domain.KeyPrefix(line.Stream), Role: key.Role.Lowered(line.Role)}
	if decided || change.Role == key.Role {
		r.DemotedBefore++
		return nil
	}
	demoting.Command = change
	if _, err := log.Submit(ctx, demoting); err != nil {
		return err
	}
	r.Demoted++
	return nil
}

// key is the key that a line is about. One that was made after what the line says is another one.
func (r *Replayed) key(ctx context.Context, log *events.Log, line Erasure) (key domain.Key, known bool, err error) {
	stream, err := log.State(ctx, line.Tenant, line.Stream)
	if err != nil {
		return key, false, err
	}
	key, _ = stream.State.(domain.Key)
	if !stream.Exists() || key.CreatedAt.After(line.RecordedAt) {
		r.unknown(line)
		return key, false, nil
	}
	return key, true, nil
}
