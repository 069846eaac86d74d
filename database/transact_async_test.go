package database_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// Only what may be forgotten is not waited for: whatever comes next on the same connection is, however the lazy
// transaction ended.
func TestOnlyALazyTransactionDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		query, prompt, lazy := "SHOW synchronous_commit", "on", "off"
		if db.Engine == database.SQLite {
			query, prompt, lazy = "PRAGMA synchronous", "2", "1"
		}
		failure := errors.New("on purpose")
		for _, ending := range []error{nil, failure} {
			for _, one := range []struct {
				transact func(context.Context, func(context.Context, bun.Tx) error) error
				want     string
			}{{db.TransactAsync, lazy}, {db.Transact, prompt}} {
				var got string
				err := one.transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
					return errors.Join(tx.QueryRowContext(ctx, query).Scan(&got), ending)
				})
				if !errors.Is(err, ending) || got != one.want {
					t.Errorf("got %q, %v, want %q and %v", got, err, one.want, ending)
				}
			}
		}
	})
}
