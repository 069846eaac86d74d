package bench

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// Understand lets the projection of meaning read a tenant's log to its head, as it does in the background of a server.
func Understand(ctx context.Context, db *database.DB, log *events.Log, meaning *projections.Meaning, tenant string, read func(events int)) error {
	for position := int64(0); ; {
		page, err := log.Read(ctx, tenant, position, 0)
		if err != nil || len(page) == 0 {
			return err
		}
		change, err := meaning.Prepare(ctx, tenant, page)
		if err != nil {
			return err
		}
		if err := db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return change.Write(ctx, tx) }); err != nil {
			return err
		}
		change.Done()
		position = page[len(page)-1].Position
		read(len(page))
	}
}
