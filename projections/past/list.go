package past

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/rows"
)

// Find returns what an item was at a position of the log, with all of its votes. The caller decides who may see it
// today. The item is never nil: one that was not yet remembered does not exist.
func (p *Projection) Find(ctx context.Context, tenant, id string, position int64) (*domain.Knowledge, error) {
	if err := p.catalogue.Refresh(ctx); err != nil {
		return nil, err
	}
	return p.log.Finder.AsOf(ctx, tenant, id, position, p.catalogue.Policy())
}

// List reads what the principal would have been shown at list.AsOf, of the items that it may see today, newest first.
// The error matches [domain.ErrUnavailable] if the projection has not reached that position.
func (p *Projection) List(ctx context.Context, list domain.List) (domain.ListPage, error) {
	if err := p.catalogue.Refresh(ctx); err != nil {
		return domain.ListPage{}, err
	}
	p, err := p.reaching(ctx, list.By.Tenant, list.AsOf)
	if err != nil {
		return domain.ListPage{}, err
	}
	limit := list.Limit
	if limit == 0 {
		limit = browse.DefaultLimit
	}
	v := p.asOf(list.By, list.AsOf, list.AsOfTime, nil)
	var factRows []factRow
	var present domain.ListPage
	answered, err := p.awaitPosition(ctx, list.AsOf, func() (read int64, err error) {
		if factRows, err = v.page(ctx, p.catalogue.DB, list, limit+1); err != nil || len(factRows) > 0 {
			return readPosition(factRows), err
		}
		return p.attempt(ctx, list.By.Tenant, list.AsOf, func(ctx context.Context, tx bun.IDB) (err error) {
			factRows, err = v.page(ctx, tx, list, limit+1)
			return err
		})
	}, func() (bool, error) {
		now := list
		now.AsOf = 0
		return p.askPresent(ctx, list.By.Tenant, list.AsOf, func() (err error) {
			present, err = p.browser.List(ctx, now)
			return err
		})
	})
	switch {
	case err != nil:
		return domain.ListPage{}, rows.Failed(ctx, "list the past", err)
	case answered:
		return present, nil
	}
	items, found := splitRows(factRows)
	page := domain.ListPage{}
	if len(items) > limit {
		items = items[:limit]
		page.Next = items[limit-1].Number
	}
	facts, err := events.FactsOf(list.By.Tenant, found, positionsOf(items))
	if err != nil {
		return domain.ListPage{}, err
	}
	page.Items = v.withTexts(items, facts)
	return page, nil
}

// positionsOf are the positions of the items' texts.
func positionsOf(rows []itemRow) []int64 {
	var positions []int64
	for i := range rows {
		positions = append(positions, rows[i].positions().all(rows[i].Number)...)
	}
	return positions
}

// withTexts returns items with the texts of these facts.
func (v *asOfQuery) withTexts(rows []itemRow, facts map[int64]domain.Fact) []*domain.Knowledge {
	items := make([]*domain.Knowledge, len(rows))
	for i := range rows {
		k := rows[i].knowledge(v.past.catalogue.Policy())
		k.Reports = nil
		rows[i].positions().restore(k, facts)
		if rows[i].Today == string(domain.IsErased) {
			k.Status = domain.IsErased
		}
		items[i] = k.At(v.time)
	}
	return items
}

// reached calls ask in a snapshot in which the projection has reached a position. It waits for that until the
// projection's patience ends.
func (p *Projection) reached(ctx context.Context, tenant string, position int64,
	ask func(ctx context.Context, tx bun.IDB) error, instead func() (bool, error),
) (answered bool, err error) {
	return p.awaitPosition(ctx, position, func() (int64, error) { return p.attempt(ctx, tenant, position, ask) }, instead)
}

// awaitPosition calls try until the projection has reached a position, or its patience ends. try returns the
// projection's position. If the first try is too early, instead may answer.
func (p *Projection) awaitPosition(
	ctx context.Context, position int64, try func() (read int64, err error), instead func() (bool, error),
) (answered bool, err error) {
	deadline, pause := time.Now().Add(p.patience), 2*time.Millisecond
	hurried := false
	for {
		read, err := try()
		if err != nil || read >= position {
			return false, err
		}
		if !hurried {
			if answered, err = instead(); err != nil || answered {
				return answered, err
			}
		}
		if time.Now().Add(pause).After(deadline) {
			return false, domain.Refuse(domain.ErrUnavailable, "the past is known up to position %d by now, and not yet to %d",
				read, position).
				WithFix("try again in a moment; /v1/projections and annals doctor say how far it is")
		}
		if !hurried {
			hurried = true
			defer p.log.Background().Boost(p.Name())()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// attempt calls ask if the projection has reached the position, and returns the projection's position.
func (p *Projection) attempt(
	ctx context.Context, tenant string, position int64, ask func(ctx context.Context, tx bun.IDB) error,
) (read int64, err error) {
	moment, err := p.catalogue.DB.OpenSnapshot(ctx, 1)
	if err != nil {
		return 0, rows.Failed(ctx, "begin", err)
	}
	defer moment.End()
	tx := moment.Transactions[0]
	if read, err = p.read(ctx, tx, tenant); err != nil || read < position {
		return read, err
	}
	return read, ask(ctx, tx)
}

// read is the projection's position in a tenant's log.
func (p *Projection) read(ctx context.Context, db bun.IDB, tenant string) (read int64, err error) {
	err = db.NewSelect().TableExpr("checkpoints").Column("position").
		Where("projection = ?", p.Name()).Where("tenant = ?", tenant).Scan(ctx, &read)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, rows.Failed(ctx, "read how far the past is known", err)
	}
	return read, nil
}

// readPosition is the projection's position when it returned these rows.
func readPosition(rows []factRow) int64 {
	if len(rows) == 0 {
		return 0
	}
	return rows[0].Reached
}

// askPresent answers from the present if the projection has not reached a position. The position must be the head of
// the log before and after asking; then the present is the answer.
func (p *Projection) askPresent(
	ctx context.Context, tenant string, position int64, ask func() error,
) (answered bool, err error) {
	isHead := func() bool {
		head, _, headErr := p.log.Reader.Head(ctx, tenant)
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
