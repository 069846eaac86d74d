package receipts

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// MostWaiting is how many receipts may wait.
const MostWaiting = mostWaiting

// Encoded is what a page of receipts needs on disk, by its parts.
func Encoded(all []*Receipt) (data, keys, texts []byte) {
	p := pageOf(all)
	return p.Data, p.Keys, p.Texts
}

// Decoded are the receipts of a page.
func Decoded(data, texts []byte) ([]*Receipt, error) {
	p := page{Data: data, Texts: texts}
	return p.receipts()
}

// Rewrite changes the receipts of the page that begins with a number, and what its row says of them.
func (r *Receipts) Rewrite(ctx context.Context, run, first int64, change func([]*Receipt) []*Receipt) error {
	return r.db.Transact(database.ForEveryTenant(ctx), func(ctx context.Context, tx bun.Tx) error {
		var p page
		err := tx.NewSelect().Model(&p).Where("p.run = ?", run).Where("p.first = ?", first).Scan(ctx)
		if err != nil {
			return err
		}
		all, err := p.receipts()
		if err != nil {
			return err
		}
		if _, err = tx.NewDelete().Model(&p).Where("run = ?", run).Where("first = ?", first).Exec(ctx); err != nil {
			return err
		}
		changed := pageOf(change(all))
		changed.Sealed = p.Sealed
		_, err = tx.NewInsert().Model(&changed).Exec(ctx)
		return err
	})
}

// Put writes a page as a minute of receipts is kept, with their numbers moved.
func (r *Receipts) Put(ctx context.Context, by int64, all []*Receipt) error {
	moved := make([]*Receipt, len(all))
	for i, one := range all {
		other := *one
		other.Sequence, other.Sealed = other.Sequence+by, 1
		moved[i] = &other
	}
	p := pageOf(moved)
	return r.db.Transact(database.ForEveryTenant(ctx), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&p).Exec(ctx)
		return err
	})
}
