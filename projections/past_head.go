package projections

import "context"

// atHead asks the present about a position, where the projection has not read so far: if it is the log's newest
// position, before and after, what was known then is what is known.
func (p *Past) atHead(ctx context.Context, tenant string, position int64, ask func() error) (answered bool, err error) {
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
