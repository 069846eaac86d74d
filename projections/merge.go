package projections

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"
)

// putSheaf keeps a sheaf until all are merged.
func putSheaf(ctx context.Context, tx bun.Tx, t tables, tenant string, bound []chunk) error {
	if len(bound) == 0 {
		return nil
	}
	var number int
	err := tx.NewSelect().TableExpr("?", t.sheaves).ColumnExpr("coalesce(max(number), 0) + 1").Where("tenant = ?", tenant).Scan(ctx, &number)
	if err != nil {
		return err
	}
	var rows [][]any
	for i, c := range bound {
		rows = append(rows, []any{tenant, number, i, c.first, c.bytes})
	}
	return insertRows(ctx, tx, string(t.sheaves), sheavesColumns, rows)
}

var sheavesColumns = []string{"tenant", "number", "chunk", "first", "bytes"}

// merge writes the table of scopes and the index of terms from the sheaves, in their own order. What an
// interrupted rebuild has written of them is not written again.
func (r *Rebuilder) merge(ctx context.Context, now *run) error {
	var tenants []string
	err := r.knowledge.db.NewSelect().Distinct().TableExpr("?", now.version.tables.sheaves).Column("tenant").OrderExpr("tenant").Scan(ctx, &tenants)
	if err != nil {
		return r.knowledge.failed(ctx, "read sheaves", err)
	}
	for _, tenant := range tenants {
		if err := r.mergeTenant(ctx, now, tenant); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rebuilder) mergeTenant(ctx context.Context, now *run, tenant string) error {
	m, err := r.openSheaves(ctx, now.version.tables, tenant)
	if err != nil {
		return err
	}
	// While one batch is written the next one is put together.
	working, ctx := errgroup.WithContext(ctx)
	batches := make(chan [][]any, 1)
	working.Go(func() error {
		defer close(batches)
		for {
			batch, err := m.batch(ctx, r.batch.rows())
			if err != nil || len(batch) == 0 {
				return err
			}
			select {
			case batches <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	working.Go(func() error {
		for batch := range batches {
			if err := r.writePlaces(ctx, now.version, batch); err != nil {
				return err
			}
		}
		return nil
	})
	return working.Wait()
}

// writePlaces writes what [merging.batch] took.
func (r *Rebuilder) writePlaces(ctx context.Context, v version, rows [][]any) error {
	return r.batch.write(r.knowledge.db, len(rows), func() (time.Duration, error) {
		var began time.Time
		err := r.knowledge.db.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
			began = time.Now()
			rows, err := withoutErased(ctx, tx, v, rows)
			if err != nil || len(rows) == 0 {
				return err
			}
			scopes, terms := scopesFirst(rows)
			if err := insertRows(ctx, tx, string(v.tables.scopes), scopesColumns, scopes); err != nil {
				return err
			}
			return insertRows(ctx, tx, string(v.tables.terms), termsColumns, terms)
		})
		return time.Since(began), err
	})
}

// scopesFirst parts the rows of items in their scopes from those of terms, which come after them.
func scopesFirst(rows [][]any) (scopes, terms [][]any) {
	for len(rows) > 0 && rows[0][1] == any(itself) {
		tenant, scope, number, words := rows[0][0], rows[0][2], rows[0][3], rows[0][5]
		scopes = append(scopes, []any{tenant, scope, number, words})
		rows = rows[1:]
	}
	return scopes, rows
}

// withoutErased leaves out the scopes and terms of items that were erased since they were put into a sheaf, or of which
// something was redacted after what was loaded: those are indexed when the version comes to that. The rows are of
// one tenant.
func withoutErased(ctx context.Context, tx bun.IDB, v version, rows [][]any) ([][]any, error) {
	var numbers []int64
	if err := tx.NewSelect().TableExpr("erasures").Column("number").Where("tenant = ?", rows[0][0]).
		Where("NOT redaction OR position > coalesce((SELECT c.position FROM checkpoints AS c WHERE c.projection = ? AND c.tenant = erasures.tenant), 0)", v.checkpoint()).
		Scan(ctx, &numbers); err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return rows, nil
	}
	gone := make(map[int64]bool, len(numbers))
	for _, number := range numbers {
		gone[number] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row []any) bool { return gone[row[3].(int64)] }), nil
}
