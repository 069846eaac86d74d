package projections

import (
	"context"
	"errors"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/past"
)

// Background gives access to the projections that follow the log in this process, by the names that an API uses.
type Background struct {
	Followers *follow.Followers
	Past      *past.Projection // nil if it does not follow the log in this process
}

// Quarantined lists the quarantined streams of a projection, the oldest first.
func (b Background) Quarantined(ctx context.Context, name, tenant string) ([]domain.Quarantined, error) {
	followers, err := catalogue.FollowersOf(b.Followers, name)
	var all []domain.Quarantined
	for _, follower := range followers {
		list, err := b.Followers.Quarantined(ctx, follower, tenant)
		if err != nil {
			return nil, err
		}
		for _, q := range list {
			q.Projection = name
			all = append(all, q)
		}
	}
	return all, err
}

// Replay lets a projection process the waiting events of a quarantined stream; see [follow.Followers.RetryQuarantined].
func (b Background) Replay(ctx context.Context, name, tenant, stream string) (domain.Replayed, error) {
	return ofFirst(b, name, func(follower string) (domain.Replayed, error) {
		return b.Followers.RetryQuarantined(ctx, follower, tenant, stream)
	})
}

// Skip discards the waiting events of a quarantined stream; see [follow.Followers.SkipQuarantined].
func (b Background) Skip(ctx context.Context, name, tenant, stream string) (domain.Skipped, error) {
	return ofFirst(b, name, func(follower string) (domain.Skipped, error) {
		return b.Followers.SkipQuarantined(ctx, follower, tenant, stream)
	})
}

// ofFirst is the result of the first follower of a projection that finds what it is asked for.
func ofFirst[T any](b Background, name string, do func(follower string) (T, error)) (done T, err error) {
	followers, err := catalogue.FollowersOf(b.Followers, name)
	for _, follower := range followers {
		if done, err = do(follower); !errors.Is(err, domain.ErrNotFound) {
			break
		}
	}
	return done, err
}

// ReplayAll lets a projection read the tenant's log again from its beginning. The error matches [domain.ErrConflict]
// if the projection must not process an event twice.
func (b Background) ReplayAll(ctx context.Context, name, tenant string) error {
	followers, err := catalogue.FollowersOf(b.Followers, name)
	switch {
	case err != nil:
		return err
	case b.Past != nil && slices.Contains(followers, b.Past.Name()):
		return b.Past.BeginAnew(ctx, tenant)
	case name != catalogue.MeaningName:
		return domain.Refuse(domain.ErrConflict, "%s processes every event once and cannot start again", name)
	}
	for _, follower := range followers {
		if err := b.Followers.Reset(ctx, follower, tenant); err != nil {
			return err
		}
	}
	return nil
}

// Await returns when every projection that an answer needs has reached a position of the tenant's log. Only a search
// has to wait for a projection, that of the built-in vectors: a configured model may take long, and follows. The log
// itself may end before the position on a standby, and in a restored database. The error matches [domain.ErrBehind]
// if ctx ends first.
func (r Reader) Await(ctx context.Context, tenant string, position int64, search bool) error {
	head, err := r.Log.Watchers.AwaitHead(ctx, tenant, position)
	if err != nil && ctx.Err() != nil {
		return domain.Refuse(domain.ErrBehind, "the log ends at position %d here, and %d was asked for", head, position).
			WithFix("try again, or ask without min_position")
	} else if err != nil {
		return err
	}
	if !search {
		return nil
	}
	read := r.Knowledge.Models.Builtin
	err = r.Followers.Await(ctx, read.Name(), tenant, position)
	if err == nil {
		read.Recheck(tenant)
		return nil
	}
	if ctx.Err() == nil {
		return err
	}
	f, err := r.Followers.SubscriptionStatus(context.WithoutCancel(ctx), read.Name(), tenant)
	if err != nil {
		return err
	}
	refusal := domain.Refuse(domain.ErrBehind, "vectors are read up to position %d, and %d was asked for",
		f.Position, position)
	if f.LastError != nil {
		return refusal.WithFix("ask without min_position, or see /v1/projections for the reason")
	}
	return refusal.WithFix("try again, or ask without min_position")
}
