package receipts

import (
	"context"
	"database/sql"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// IDs are the ids of items by their numbers. Numbers that no item has are left out.
func (r *Receipts) IDs(ctx context.Context, tenant string, numbers []int64) (map[int64]string, error) {
	ids := make(map[int64]string, len(numbers))
	for batch := range slices.Chunk(numbers, events.PageSize) {
		err := database.ForEach(ctx, r.db, func(rows *sql.Rows) error {
			var number int64
			var stream string
			if err := rows.Scan(&number, &stream); err != nil {
				return err
			}
			if id, is := domain.ItemOf(stream); is {
				ids[number] = id
			}
			return nil
		}, `
			SELECT position, stream
			FROM events
			WHERE tenant = ? AND position IN (?)
			ORDER BY position`, tenant, bun.List(batch))
		if err != nil {
			return nil, failed(ctx, err)
		}
	}
	return ids, nil
}
