package events

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Inline is a projection written in the append's own transaction, and what decisions look things up
// in.
type Inline interface {
	// Load reads what the commands read, for one tenant, under its lock; tx is the append's
	// transaction. The stage ends with the transaction. Several batches of different tenants
	// may be open at once.
	//
	// first is what the log itself reads, the lock among it: Load does it before anything else, and
	// with it if it can, since a round trip to the database costs more than what it says.
	Load(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first database.Batch) (Stage, error)
}

// Preparation is what an [Inline] projection may do ahead, for as many commands at once as there are
// callers: it needs neither the lock nor anything that is stored.
type Preparation interface {
	// Prepare returns the command, with what was prepared around it. Load is given what it returns.
	Prepare(command domain.Command) domain.Command
}

// Stage is the part of the state that one batch of commands is decided on which the inline projection
// keeps. It is used by one goroutine.
type Stage interface {
	domain.ItemReader
	// Apply folds an event into the state that later commands of the batch see. It is given those of
	// every stream; of streams that it does not keep, the log itself keeps the state.
	Apply(event domain.Event) error
	// Complete finishes what Apply has put off until the facts of one command are known. It is called before
	// anything is decided on the state.
	Complete() error
	// Save writes what Apply changed. It is called once, after the last Apply, if there was any.
	// inserts goes to the database before, and with it: what the log itself writes.
	Save(ctx context.Context, inserts *database.Script) error
}
