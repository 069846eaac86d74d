package events

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Inline is a projection written in the append's own transaction, and what decisions look things up
// in.
type Inline interface {
	// Open loads what the commands read, for one tenant, under its lock; tx is the append's
	// transaction. The stage ends with the transaction. Several batches of different tenants
	// may be open at once.
	Open(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command) (Stage, error)
}

// Stage is the state that one batch of commands is decided on. It is used by one goroutine.
type Stage interface {
	domain.Book
	// Apply folds an event into the state that later commands of the batch see.
	Apply(event domain.Event) error
	// Flush writes what Apply changed. It is called once, after the last Apply, if there was any.
	Flush(ctx context.Context) error
}
