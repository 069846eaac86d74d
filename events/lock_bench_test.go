package events_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// writers is how many nodes append to one tenant's log at the same time.
const writers = 4

// BenchmarkPositions compares two ways of giving out dense positions, while somebody elsewhere in the
// database holds a snapshot open: an advisory lock and then the newest position, and a row that has
// the head. They take turns of a second each on the same server, so that other load falls on both.
// Run it with -benchtime=60x for a minute of each; see docs/decisions/0002.
func BenchmarkPositions(b *testing.B) {
	for _, snapshot := range []bool{false, true} {
		b.Run(fmt.Sprintf("snapshot=%v", snapshot), func(b *testing.B) {
			db := databasetest.Open(b, databasetest.Postgres(b)+"&pool_max_conns=20")
			makePlainLogs(b, db)
			if snapshot {
				release := holdSnapshot(b, db)
				defer release()
			}
			var advisory, row []int
			for b.Loop() {
				advisory = append(advisory, appendFor(b, db, time.Second, underAdvisoryLock))
				row = append(row, appendFor(b, db, time.Second, underHeadRow))
			}
			// How fast the first and the last sixth of the turns were, in transactions a second.
			sixth := max(1, len(row)/6)
			b.ReportMetric(mean(advisory[:sixth]), "advisory-first/s")
			b.ReportMetric(mean(row[:sixth]), "row-first/s")
			b.ReportMetric(mean(advisory[len(row)-sixth:]), "advisory-last/s")
			b.ReportMetric(mean(row[len(row)-sixth:]), "row-last/s")
			b.ReportMetric(float64(size(b, db, "heads")), "row-bytes")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkHead measures what the two statements themselves cost, once so many appends have happened
// while a snapshot was held open: the versions of the head row that it keeps alive are all visited.
func BenchmarkHead(b *testing.B) {
	for _, appends := range []int{0, 10_000, 100_000} {
		db := databasetest.Open(b, databasetest.Postgres(b))
		makePlainLogs(b, db)
		release := holdSnapshot(b, db)
		_, err := db.ExecContext(b.Context(), fmt.Sprintf(`
			CREATE PROCEDURE pretend() LANGUAGE plpgsql AS $$
			BEGIN
				FOR n IN 1 .. %d LOOP
					UPDATE heads SET position = position + 1;
					INSERT INTO by_lock VALUES ('acme', n, '{}');
					IF n %% 100 = 0 THEN COMMIT; END IF;
				END LOOP;
			END $$`, appends))
		if err == nil {
			_, err = db.ExecContext(b.Context(), `CALL pretend()`)
		}
		if err != nil {
			b.Fatal(err)
		}
		for name, statement := range map[string]string{
			"advisory": `SELECT pg_advisory_xact_lock(1, 1); SELECT position FROM by_lock WHERE tenant = 'acme' ORDER BY position DESC LIMIT 1`,
			"row":      `UPDATE heads SET position = position + 1 WHERE tenant = 'acme' RETURNING position`,
		} {
			b.Run(fmt.Sprintf("appends=%d/%s", appends, name), func(b *testing.B) {
				for b.Loop() {
					undone := errors.New("undone")
					err := db.Transact(b.Context(), func(ctx context.Context, tx bun.Tx) error {
						_, err := tx.ExecContext(ctx, statement)
						return errors.Join(err, undone)
					})
					if !errors.Is(err, undone) {
						b.Fatal(err)
					}
				}
			})
		}
		release()
	}
}

func makePlainLogs(b *testing.B, db *database.DB) {
	b.Helper()
	write(b, db, `
		CREATE TABLE heads (tenant text PRIMARY KEY, position bigint NOT NULL);
		INSERT INTO heads VALUES ('acme', 0);
		CREATE TABLE by_lock (tenant text, position bigint, data json, PRIMARY KEY (tenant, position));
		CREATE TABLE by_row (tenant text, position bigint, data json, PRIMARY KEY (tenant, position))`)
}

func write(b *testing.B, db *database.DB, statements string) {
	b.Helper()
	err := db.Transact(b.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statements)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// holdSnapshot begins a transaction that sees the database as it is now until it is released.
func holdSnapshot(b *testing.B, db *database.DB) (release func()) {
	b.Helper()
	tx, err := db.DB.DB.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, statement := range []string{
		`SET LOCAL idle_in_transaction_session_timeout = 0`, `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`, `SELECT count(*) FROM heads`,
	} {
		if _, err := tx.ExecContext(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			b.Error(err)
		}
	}
}

// appendFor counts the transactions that all writers commit in a while.
func appendFor(b *testing.B, db *database.DB, while time.Duration, transaction func(context.Context, bun.Tx) error) (transactions int) {
	b.Helper()
	counts := make([]int, writers)
	end := time.Now().Add(while)
	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			for time.Now().Before(end) {
				if err := db.Transact(b.Context(), transaction); err != nil {
					b.Error(err)
					return
				}
				counts[i]++
			}
		})
	}
	writing.Wait()
	for _, n := range counts {
		transactions += n
	}
	return transactions
}

// underAdvisoryLock does what the committer does: the lock and the head are two statements in one round
// trip.
func underAdvisoryLock(ctx context.Context, tx bun.Tx) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT pg_advisory_xact_lock(1, 1);
		SELECT position FROM by_lock WHERE tenant = 'acme' ORDER BY position DESC LIMIT 1`)
	if err != nil {
		return err
	}
	for rows.Next() { // until the lock is ours
	}
	var position int64
	if rows.NextResultSet() && rows.Next() {
		err = rows.Scan(&position)
	}
	if err := errors.Join(err, rows.Close(), rows.Err()); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO by_lock VALUES ('acme', ?, '{}')`, position+1)
	return err
}

func underHeadRow(ctx context.Context, tx bun.Tx) error {
	var position int64
	err := tx.QueryRowContext(ctx, `UPDATE heads SET position = position + 1 WHERE tenant = 'acme' RETURNING position`).Scan(&position)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO by_row VALUES ('acme', ?, '{}')`, position)
	return err
}

func mean(turns []int) float64 {
	sum := 0
	for _, n := range turns {
		sum += n
	}
	return float64(sum) / float64(len(turns))
}

func size(b *testing.B, db *database.DB, table string) (bytes int64) {
	b.Helper()
	if err := db.QueryRowContext(b.Context(), `SELECT pg_table_size(?)`, table).Scan(&bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}
