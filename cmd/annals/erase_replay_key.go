package main

import (
	"context"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// revoke takes a key back again. One that was made after the revocation is another one.
func (r *replayed) revoke(ctx context.Context, log *events.Log, line erasure) error {
	stream, err := log.State(ctx, line.Tenant, line.Stream)
	if err != nil {
		return err
	}
	key, _ := stream.State.(domain.Key)
	switch {
	case !stream.Exists() || key.CreatedAt.After(line.RecordedAt):
		r.unknown(line)
		return nil
	case !key.RevokedAt.IsZero():
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
