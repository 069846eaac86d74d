package events

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Inline is a projection that is written in the append's own transaction. Decisions read it.
type Inline interface {
	// Load reads what the commands need for one tenant, in the append's transaction tx and under the tenant's lock.
	// The stage ends with the transaction. Batches of different tenants may run at the same time.
	//
	// first are the log's own statements, which take the lock. Load runs them before its own, in the same round trip
	// if possible.
	Load(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first database.Batch) (Stage, error)
}

// Preparation is optional for an [Inline] projection. It does work before the lock is taken and without stored data,
// so that callers do it concurrently.
type Preparation interface {
	// Prepare returns the command, wrapped with the prepared data. Load receives the result.
	Prepare(command domain.Command) domain.Command
}

// Stage is the state that one batch of commands is decided on, as far as the inline projection stores it. One
// goroutine uses it.
type Stage interface {
	domain.ItemReader
	// Apply folds an event into the state for later commands of the batch. It receives the events of all streams; the
	// log itself keeps the states of streams that the projection does not store.
	Apply(event domain.Event) error
	// Complete finishes work that Apply has deferred, once the facts of one command are known. It is called before
	// the next decision.
	Complete() error
	// Save writes the changes of Apply. It is called once, after the last Apply, if there was any. It sends inserts,
	// the log's own rows, to the database first, in the same round trip.
	Save(ctx context.Context, inserts *database.Script) error
}
