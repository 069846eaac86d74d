package receipts

import (
	"context"
	"fmt"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// notFound is the refusal for a receipt that does not exist, has expired, or may not be seen.
func notFound(id string) error { return domain.Refuse(domain.ErrNotFound, "no receipt with id %s", id) }

// Find is the receipt with an id, whoever asks: see [Receipts.Show]. The error matches [domain.ErrNotFound] if there is
// none.
func (r *Receipts) Find(ctx context.Context, tenant, id string) (Receipt, error) {
	run, sequence, is := parseID(id)
	if !is {
		return Receipt{}, notFound(id)
	}
	if run == r.current() {
		if err := r.Flush(ctx); err != nil {
			return Receipt{}, events.Unavailable(err)
		}
	}
	var found []page
	err := r.db.NewSelect().Model(&found).Where("p.tenant = ?", tenant).Where("p.run = ?", run).
		Where("p.first <= ?", sequence).Where("p.last >= ?", sequence).OrderExpr("p.first DESC").Limit(1).Scan(ctx)
	if err != nil {
		return Receipt{}, failed(ctx, err)
	}
	for i := range found {
		all, err := found[i].receipts()
		if err != nil {
			return Receipt{}, err
		}
		for _, one := range all {
			if one.Sequence == sequence {
				return *one, nil
			}
		}
	}
	return Receipt{}, notFound(id)
}

func failed(ctx context.Context, err error) error {
	return fmt.Errorf("read receipts: %w", events.Unavailable(rows.WithRemedy(database.Classify(ctx, err))))
}
