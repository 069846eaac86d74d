package main

import (
	"context"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// revoke takes a key back again.
func (r *replayed) revoke(ctx context.Context, log *events.Log, line erasure) error {
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
func (r *replayed) rotate(ctx context.Context, log *events.Log, line erasure) error {
	key, known, err := r.key(ctx, log, line)
	if err != nil || !known {
		return err
	}
	if key.ReplacedBy != "" || key.Opens(time.Now()) != nil {
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

// key is the key that a line is about. One that was made after what the line says is another one.
func (r *replayed) key(ctx context.Context, log *events.Log, line erasure) (key domain.Key, known bool, err error) {
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
