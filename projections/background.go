package projections

import (
	"context"

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
	follower, err := catalogue.FollowerOf(b.Followers, name)
	if err != nil {
		return nil, err
	}
	list, err := b.Followers.Quarantined(ctx, follower, tenant)
	for i := range list {
		list[i].Projection = name
	}
	return list, err
}

// Replay lets a projection process the waiting events of a quarantined stream; see [follow.Followers.RetryQuarantined].
func (b Background) Replay(ctx context.Context, name, tenant, stream string) (domain.Replayed, error) {
	follower, err := catalogue.FollowerOf(b.Followers, name)
	if err != nil {
		return domain.Replayed{}, err
	}
	return b.Followers.RetryQuarantined(ctx, follower, tenant, stream)
}

// Skip discards the waiting events of a quarantined stream; see [follow.Followers.SkipQuarantined].
func (b Background) Skip(ctx context.Context, name, tenant, stream string) (domain.Skipped, error) {
	follower, err := catalogue.FollowerOf(b.Followers, name)
	if err != nil {
		return domain.Skipped{}, err
	}
	return b.Followers.SkipQuarantined(ctx, follower, tenant, stream)
}

// ReplayAll lets a projection read the tenant's log again from its beginning. The error matches [domain.ErrConflict]
// if the projection must not process an event twice.
func (b Background) ReplayAll(ctx context.Context, name, tenant string) error {
	follower, err := catalogue.FollowerOf(b.Followers, name)
	if err != nil {
		return err
	}
	switch {
	case b.Past != nil && follower == b.Past.Name():
		return b.Past.BeginAnew(ctx, tenant)
	case name != catalogue.MeaningName:
		return domain.Refuse(domain.ErrConflict, "%s processes every event once and cannot start again", name)
	}
	return b.Followers.Reset(ctx, follower, tenant)
}

// Await returns when every projection that an answer reads has reached a position of the tenant's log. Only a search
// has to wait for a projection, that of the vectors. The log itself may end before the position on a standby, and in
// a restored database. The error matches [domain.ErrBehind] if ctx ends first.
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
	read := r.Knowledge.Models.Active.Load()
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
