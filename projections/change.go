package projections

import (
	"context"

	"github.com/uptrace/bun"
)

// Change is what a page of events means for a background projection: worked out before the
// transaction that writes it, so that no transaction waits for a model.
type Change interface {
	// Write writes the change, in the transaction that also moves the checkpoint.
	Write(ctx context.Context, tx bun.IDB) error
	// Done is called when that transaction is committed.
	Done()
}
