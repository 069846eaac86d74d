package projections

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// scanEach scans the rows of a query one by one, so that a row that cannot be read does not hide the others: it is
// handed over with the error, and with what precedes the column that makes no sense.
func scanEach[T any](ctx context.Context, db *bun.DB, query *bun.SelectQuery, each func(found *T, unreadable error)) error {
	rows, err := query.Rows(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var found T
		err := db.ScanRow(ctx, rows, &found)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		each(&found, err)
	}
	return rows.Err()
}

// readRows reads rows of the knowledge table. Those that cannot be read are marked.
func (p *Knowledge) readRows(ctx context.Context, query *bun.SelectQuery) (rows []row, err error) {
	var broken []string
	err = scanEach(ctx, p.db.DB, query, func(r *row, unreadable error) {
		if r.broken = unreadable != nil; r.broken {
			broken = append(broken, r.ID)
		}
		rows = append(rows, *r)
	})
	p.logUnreadable(ctx, broken)
	return rows, err
}

// logUnreadable names items, and never says why: the error may quote what people wrote.
func (p *Knowledge) logUnreadable(ctx context.Context, ids []string) {
	if len(ids) > 0 {
		if p.versionSet.Load() != nil { // Check reports its findings itself
			p.unreadable.Store(int64(p.active().Version))
		}
		p.log.ErrorContext(ctx, "the rows of items cannot be read: answers leave them out", "items", ids)
	}
}

// readOne reads the item that a query selects. The error matches [sql.ErrNoRows] if there is none, and
// [domain.ErrBroken] if its row cannot be read.
func (p *Knowledge) readOne(ctx context.Context, query *bun.SelectQuery) (*domain.Knowledge, error) {
	rows, err := p.readRows(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, sql.ErrNoRows
	case rows[0].broken:
		return nil, domain.Refuse(domain.ErrBroken, "what is stored of %s cannot be read", rows[0].ID).
			WithFix("annals rebuild knowledge --repair makes it again from the log")
	}
	return p.item(&rows[0]), nil
}
