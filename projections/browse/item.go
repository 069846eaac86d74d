package browse

import (
	"context"
	"database/sql"
	"errors"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Find reads one item, whatever its status. The caller decides who may see it. The error matches [domain.ErrNotFound]
// if it was never remembered, and [domain.ErrBroken] if its row cannot be read.
func (b *Browser) Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	k, err := p.ReadOne(ctx, p.Items().
		Where("tenant = ?", tenant).Where("id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, domain.NotFound(id)
	}
	if err != nil {
		return nil, rows.Failed(ctx, "read knowledge", err)
	}
	return k, nil
}

// Feedback reads the newest 50 votes for and against an item, those of its baseline included. Of the votes that a
// merge carried, it reads those on items that the reader may see.
func (b *Browser) Feedback(ctx context.Context, reader domain.Principal, id string) (domain.Feedback, error) {
	p, err := b.view(ctx)
	if err != nil {
		return domain.Feedback{}, err
	}
	k, err := b.Find(ctx, reader.Tenant, id)
	if err != nil {
		return domain.Feedback{}, err
	}
	rated := &domain.Knowledge{Baseline: k.Baseline, Votes: map[string]domain.Vote{}}
	for _, verdict := range []domain.Verdict{domain.Helpful, domain.Harmful} {
		var votes []rows.VoteRow
		err := p.DB.NewSelect().Model(&votes).ModelTableExpr("? AS v", p.Tables.Votes).
			Where("tenant = ?", reader.Tenant).Where("id = ?", id).Where("verdict = ?", verdict).
			OrderExpr("at DESC, event_id DESC").Limit(domain.MaxUses).Scan(ctx)
		if err != nil {
			return domain.Feedback{}, rows.Failed(ctx, "read votes", err)
		}
		for i := range votes {
			v := votes[i].Vote()
			rated.Votes[v.EventID] = v
		}
	}
	if len(k.DerivedFrom) > 0 { // votes may have been carried
		err = b.Hide(ctx, reader, rated)
	}
	return rated.Feedback(), err
}
