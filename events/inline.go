package events

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Inline is a projection written in the append's own transaction, and what decisions look things up
// in.
type Inline interface {
	// Open loads what the commands read, for one tenant, under its lock; tx is the append's
	// transaction. The stage ends with the transaction. Several batches of different tenants
	// may be open at once.
	//
	// first is what the log itself reads, the lock among it: Open does it before anything else, and
	// with it if it can, since a round trip to the database costs more than what it says. [Do]
	// does it by itself.
	Open(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first []Reading) (Stage, error)
}

// Preparation is what an [Inline] projection may do ahead, for as many commands at once as there are
// callers: it needs neither the lock nor anything that is stored.
type Preparation interface {
	// Prepare returns the command, with what was prepared around it. Open is given what it returns.
	Prepare(command domain.Command) domain.Command
}

// Stage is the part of the state that one batch of commands is decided on which the inline projection
// keeps. It is used by one goroutine.
type Stage interface {
	domain.ItemReader
	// Apply folds an event into the state that later commands of the batch see. It is given those of
	// every stream; of streams that it does not keep, the log itself keeps the state.
	Apply(event domain.Event) error
	// Settle completes what Apply has put off until the facts of one command are known. It is called before
	// anything is decided on the state.
	Settle() error
	// Flush writes what Apply changed. It is called once, after the last Apply, if there was any.
	// inserts goes to the database before, and with it: what the log itself writes.
	Flush(ctx context.Context, inserts *database.Script) error
}

// Reading is a query and what becomes of its rows.
type Reading struct {
	Query  string // complete, unless there are values
	Values []any  // of SQLite's queries that come again and again: see [database.Kept]
	Each   func(*sql.Rows) error
}

// Ask asks the query in a transaction.
func (r Reading) Ask(ctx context.Context, tx bun.IDB) (*sql.Rows, error) {
	if len(r.Values) > 0 {
		return database.Kept(ctx, tx, r.Query, r.Values...)
	}
	return tx.QueryContext(ctx, r.Query)
}

func (r Reading) do(ctx context.Context, tx bun.IDB) error {
	rows, err := r.Ask(ctx, tx) //nolint:rowserrcheck // ScanAll does
	if err != nil {
		return database.Classify(ctx, err)
	}
	defer rows.Close()
	return database.ScanAll(ctx, rows, r.Each)
}

// Do runs queries one after the other, each a statement of its own that sees what was committed when
// it began; on PostgreSQL in one round trip.
func Do(ctx context.Context, tx bun.IDB, readings []Reading) error {
	if tx.Dialect().Name() == dialect.SQLite {
		for _, r := range readings {
			if err := r.do(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
	queries := make([]string, len(readings))
	for i, r := range readings {
		queries[i] = r.Query
	}
	rows, err := tx.QueryContext(ctx, strings.Join(queries, ";\n"))
	if err != nil {
		return database.Classify(ctx, err)
	}
	defer rows.Close()
	for i, r := range readings {
		if i > 0 && !rows.NextResultSet() {
			break
		}
		if err := database.ScanAll(ctx, rows, r.Each); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("next result: %w", database.Classify(ctx, err))
	}
	return nil
}
