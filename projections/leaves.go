package projections

import (
	"context"
	"database/sql"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Leaves reads where the active items below a directory lie that the principal may see, and with contents what they say, in the order
// of their URIs: at most as many as the limit, and fewer where they say much. More tells whether there are others.
func (p *Knowledge) Leaves(ctx context.Context, walk domain.Walk, contents bool) (leaves []domain.Leaf, more bool, err error) {
	if err := p.refresh(ctx); err != nil {
		return nil, false, err
	}
	p = p.pinned()
	query, err := p.lyingBelow(ctx, p.db.NewSelect().Model((*row)(nil)), walk.By, walk.Below, walk.After)
	if err != nil {
		return nil, false, err
	}
	query = query.ColumnExpr("k.uri")
	if contents {
		query = query.ColumnExpr("k.content")
	} else {
		query = query.ColumnExpr("''")
	}
	read := 0
	err = database.ForEach(ctx, p.db, func(rows *sql.Rows) error {
		if len(leaves) == walk.Limit || read >= p.gathered.bytes {
			more = true
			return database.ErrEnough
		}
		var leaf domain.Leaf
		err := rows.Scan(&leaf.URI, &leaf.Content)
		leaves, read = append(leaves, leaf), read+len(leaf.Content)
		return err
	}, query.OrderExpr("k.uri").Limit(int64(walk.Limit)+1).String())
	if err != nil {
		return nil, false, p.failed(ctx, "walk through a directory", err)
	}
	return leaves, more, nil
}
