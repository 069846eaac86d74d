package receipts

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Forget erases the questions of answers that were given to an entity, or for it. Of a tenant ("tenant:NAME"), it
// deletes all receipts and uses. Receipts say nothing else about people than their ids.
func (r *Receipts) Forget(ctx context.Context, tenant, of string) error {
	ctx = database.ForEveryTenant(ctx)
	if err := r.Flush(ctx); err != nil {
		return err
	}
	if _, isTenant := domain.TenantOf(of); isTenant {
		if err := r.drop(ctx, tenant, ""); err != nil {
			return err
		}
		_, err := r.db.TransactOne(ctx, "DELETE FROM item_uses WHERE tenant = ?", tenant)
		return err
	}
	if _, err := domain.ParseEntity(of); err != nil {
		return nil //nolint:nilerr // an item or a session, which ask nothing
	}
	for { // pages are merged meanwhile
		erased, err := r.forgetOnce(ctx, tenant, domain.Entity(of))
		if err != nil || erased == 0 {
			return err
		}
	}
}

// forgetOnce erases the questions of an entity in every page, and counts them.
func (r *Receipts) forgetOnce(ctx context.Context, tenant string, of domain.Entity) (erased int, err error) {
	const most = 100
	for after := (page{}); ; {
		var pages []page
		err := r.db.NewSelect().Model(&pages).Column("run", "first", "keys").Where("p.tenant = ?", tenant).
			Where("(p.run, p.first) > (?, ?)", after.Run, after.First).Where("p.texts IS NOT NULL").
			OrderExpr("p.run, p.first").Limit(most).Scan(ctx)
		if err != nil {
			return erased, failed(ctx, err)
		}
		for _, p := range pages {
			if hasKeys(p.Keys, [][]uint32{{keyOf("entity", string(of))}}) {
				n, err := r.forgetIn(ctx, tenant, p, of)
				if erased += n; err != nil {
					return erased, err
				}
			}
		}
		if len(pages) < most {
			return erased, nil
		}
		after = pages[len(pages)-1]
	}
}

// forgetIn erases the questions of an entity in a page, and counts them. A page that was merged is another one now.
func (r *Receipts) forgetIn(ctx context.Context, tenant string, in page, of domain.Entity) (erased int, err error) {
	err = r.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		var found []page
		query := tx.NewSelect().Model(&found).Where("p.tenant = ?", tenant).Where("p.run = ?", in.Run).
			Where("p.first <= ?", in.First).Where("p.last >= ?", in.First)
		if r.db.Engine == database.Postgres {
			query = query.For("UPDATE")
		}
		if err := query.Scan(ctx); err != nil {
			return err
		}
		for _, p := range found {
			all, err := p.receipts()
			if err != nil {
				return err
			}
			for _, one := range all {
				if one.Question.Salt != nil && (one.Caller == of || one.OnBehalfOf == of) {
					one.Question.Salt = nil
					erased++
				}
			}
			_, err = tx.NewUpdate().Model((*page)(nil)).Set("texts = ?", encodeQuestions(all)).Where("tenant = ?", tenant).
				Where("run = ?", p.Run).Where("first = ?", p.First).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("erase questions: %w", err)
	}
	return erased, nil
}
