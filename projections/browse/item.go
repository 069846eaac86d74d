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

// maxHistory is how many votes for an item are shown at most, and how many against it.
const maxHistory = 50

// Feedback reads the newest 50 votes for and against an item, those of its baseline included.
func (b *Browser) Feedback(ctx context.Context, tenant, id string) (domain.Feedback, error) {
	p, err := b.view(ctx)
	if err != nil {
		return domain.Feedback{}, err
	}
	k, err := b.Find(ctx, tenant, id)
	if err != nil {
		return domain.Feedback{}, err
	}
	helpful, err := p.uses(ctx, tenant, id, domain.Helpful, k.Baseline.HelpfulHistory)
	if err != nil {
		return domain.Feedback{}, err
	}
	harmful, err := p.uses(ctx, tenant, id, domain.Harmful, k.Baseline.HarmfulHistory)
	return domain.Feedback{Helpful: helpful, Harmful: harmful}, err
}

func (p view) uses(
	ctx context.Context, tenant, id string, verdict domain.Verdict, older []domain.Use,
) ([]domain.Use, error) {
	var votes []rows.VoteRow
	err := p.DB.NewSelect().Model(&votes).ModelTableExpr("? AS v", p.Tables.Votes).
		Where("tenant = ?", tenant).Where("id = ?", id).Where("verdict = ?", verdict).
		OrderExpr("at DESC, event_id DESC").Limit(maxHistory).Scan(ctx)
	if err != nil {
		return nil, rows.Failed(ctx, "read votes", err)
	}
	list := make([]domain.Use, 0, len(votes)+len(older))
	for i := range votes {
		v := votes[i].Vote()
		list = append(list, domain.Use{Query: v.Query, TraceID: v.TraceID, Outcome: v.Outcome, By: v.Voter, At: v.At})
	}
	list = append(list, older...)
	return list[:min(len(list), maxHistory)], nil
}
