package projections

import (
	"container/heap"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
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

// merge writes the index of terms from the sheaves, in its own order. What an interrupted rebuild has
// written of it is not written again.
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
			if err := r.writeTerms(ctx, now.version, batch); err != nil {
				return err
			}
		}
		return nil
	})
	return working.Wait()
}

func (r *Rebuilder) writeTerms(ctx context.Context, v version, rows [][]any) error {
	return r.batch.write(r.knowledge.db, len(rows), func() (time.Duration, error) {
		var began time.Time
		err := r.knowledge.db.TransactLazily(ctx, func(ctx context.Context, tx bun.Tx) error {
			began = time.Now()
			rows, err := withoutErased(ctx, tx, v, rows)
			if err != nil || len(rows) == 0 {
				return err
			}
			return insertRows(ctx, tx, string(v.tables.terms), termsColumns, rows)
		})
		return time.Since(began), err
	})
}

// merging is the sheaves of a tenant, each open at a place; the least place first.
type merging struct {
	rebuilder *Rebuilder
	tables    tables
	tenant    string
	open      []*opened
}

// opened is a sheaf that is being read.
type opened struct {
	unbound
	number int
	chunk  int // of the one that comes next
}

var _ heap.Interface = (*merging)(nil)

func (m *merging) Len() int { return len(m.open) }

func (m *merging) Less(i, j int) bool {
	a, b := m.open[i], m.open[j]
	if c := strings.Compare(a.term, b.term); c != 0 {
		return c < 0
	}
	return a.at.compare(b.at) < 0
}

func (m *merging) Swap(i, j int) { m.open[i], m.open[j] = m.open[j], m.open[i] }

func (m *merging) Push(x any) { m.open = append(m.open, x.(*opened)) }

func (m *merging) Pop() any {
	last := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	return last
}

// openSheaves opens a tenant's sheaves after the last term that the index has.
func (r *Rebuilder) openSheaves(ctx context.Context, t tables, tenant string) (*merging, error) {
	p := r.knowledge
	m := &merging{rebuilder: r, tables: t, tenant: tenant}
	var done unbound
	err := p.db.NewSelect().TableExpr("? AS t", t.terms).Column("term", "scope", "number").Where("tenant = ?", tenant).
		OrderExpr("term DESC, scope DESC, number DESC").Limit(1).Scan(ctx, &done.term, &done.at.scope, &done.at.number)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, p.failed(ctx, "read terms", err)
	}
	var starts []struct{ Number, Chunk int }
	err = p.db.NewSelect().TableExpr("? AS s", t.sheaves).ColumnExpr("number, max(CASE WHEN first <= ? THEN chunk ELSE 0 END) AS chunk", done.term).
		Where("tenant = ?", tenant).GroupExpr("number").OrderExpr("number").Scan(ctx, &starts)
	if err != nil {
		return nil, p.failed(ctx, "read sheaves", err)
	}
	for _, start := range starts {
		sheaf := &opened{number: start.Number, chunk: start.Chunk}
		for {
			more, err := m.next(ctx, sheaf)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if c := strings.Compare(sheaf.term, done.term); c > 0 || c == 0 && sheaf.at.compare(done.at) > 0 {
				m.open = append(m.open, sheaf)
				break
			}
		}
	}
	heap.Init(m)
	return m, nil
}

// next goes on in a sheaf, and reads its next chunk at the end of one; false at the end of the sheaf.
func (m *merging) next(ctx context.Context, o *opened) (bool, error) {
	for {
		more, err := o.unbound.next() //nolint:staticcheck // QF1008: the sheaf's own step, not this one
		if more || err != nil {
			return more, err
		}
		p := m.rebuilder.knowledge
		err = p.db.NewSelect().TableExpr("? AS s", m.tables.sheaves).Column("bytes").
			Where("tenant = ?", m.tenant).Where("number = ?", o.number).Where("chunk = ?", o.chunk).Scan(ctx, &o.bytes)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err != nil {
			return false, p.failed(ctx, "read sheaves", err)
		}
		o.chunk++
	}
}

// batch takes the next rows of the index of terms.
func (m *merging) batch(ctx context.Context, most int) ([][]any, error) {
	rows := make([][]any, 0, most)
	for len(rows) < most && len(m.open) > 0 {
		least := m.open[0]
		rows = append(rows, []any{m.tenant, least.term, least.at.scope, least.at.number, least.at.count, least.at.words})
		more, err := m.next(ctx, least)
		if err != nil {
			return nil, err
		}
		if more {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
	}
	return rows, nil
}

// withoutErased leaves out the terms of items that were erased since they were put into a sheaf, or of which
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
