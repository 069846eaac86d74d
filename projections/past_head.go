package projections

import (
	"context"
	"time"
)

// atTime is the projection by whose clock it is a time; zero for now.
func (p *Knowledge) atTime(at time.Time) *Knowledge {
	if at.IsZero() {
		return p
	}
	then := *p
	then.now = func() time.Time { return at }
	return &then
}

// askPresent asks the present about a position, where the projection has not read so far: if it is the log's newest
// position, before and after, what was known then is what is known.
func (p *Past) askPresent(ctx context.Context, tenant string, position int64, ask func() error) (answered bool, err error) {
	isHead := func() bool {
		head, _, headErr := p.log.Head(ctx, tenant)
		err = headErr
		return err == nil && head == position
	}
	if !isHead() {
		return false, err
	}
	if err := ask(); err != nil {
		return false, err
	}
	return isHead(), err
}
