package database_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestAMomentIsTheSameForEveryTransaction(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		write := func(statement string) {
			t.Helper()
			run(t, db, func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.ExecContext(ctx, statement)
				return err
			})
		}
		write("CREATE TABLE seen (at integer)")
		stop, writing := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(writing)
			for {
				select {
				case <-stop:
					return
				default:
					_ = db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
						_, err := tx.ExecContext(ctx, "INSERT INTO seen (at) VALUES (1)")
						return err
					})
				}
			}
		}()
		defer func() { close(stop); <-writing }()
		for range 20 {
			moment, err := db.OpenSnapshot(t.Context(), 3)
			if err != nil {
				t.Fatal(err)
			}
			write("INSERT INTO seen (at) VALUES (2)")
			var counts [3]int
			for i, tx := range moment.Transactions {
				if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM seen").Scan(&counts[i]); err != nil {
					t.Fatal(err)
				}
			}
			moment.End()
			if counts[0] != counts[1] || counts[1] != counts[2] {
				t.Fatalf("got %v, want three times the same", counts)
			}
		}
	})
}
