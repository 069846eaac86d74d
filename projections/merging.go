package projections

import (
	"context"
	"database/sql"
	"errors"

	"github.com/annals-kb/annals/database"
)

// merging is the sheaves of a tenant, each open at a place: a heap, the least place first.
type merging struct {
	rebuilder *Rebuilder
	tables    tables
	tenant    name
	term      name // of the row before
	scopes    interned
	open      []*opened
}

// opened is a sheaf that is being read.
type opened struct {
	unbound
	number int
	chunk  int // of the one that comes next
}

// openSheaves opens a tenant's sheaves after the last row that was written from them.
func (r *Rebuilder) openSheaves(ctx context.Context, t tables, tenant string) (*merging, error) {
	p := r.knowledge
	m := &merging{rebuilder: r, tables: t, tenant: name{tenant, tenant}}
	done, err := r.merged(ctx, t, tenant)
	if err != nil {
		return nil, err
	}
	var starts []struct{ Number, Chunk int }
	err = p.db.NewSelect().TableExpr("? AS s", t.sheaves).ColumnExpr("number, max(CASE WHEN first <= ? THEN chunk ELSE 0 END) AS chunk", string(done.term)).
		Where("tenant = ?", tenant).GroupExpr("number").OrderExpr("number").Scan(ctx, &starts)
	if err != nil {
		return nil, p.failed(ctx, "read sheaves", err)
	}
	for _, start := range starts {
		sheaf := &opened{number: start.Number, chunk: start.Chunk, unbound: unbound{scopes: &m.scopes}}
		for {
			more, err := m.next(ctx, sheaf)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if done.before(&sheaf.unbound) {
				m.open = append(m.open, sheaf)
				break
			}
		}
	}
	for i := len(m.open)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return m, nil
}

// merged is the last place that was written: of a term, or while there is none, of an item in a scope.
func (r *Rebuilder) merged(ctx context.Context, t tables, tenant string) (done unbound, err error) {
	p := r.knowledge
	err = p.db.NewSelect().TableExpr("? AS t", t.terms).Column("term", "scope", "number").Where("tenant = ?", tenant).
		OrderExpr("term DESC, scope DESC, number DESC").Limit(1).Scan(ctx, &done.term, &done.at.scope.text, &done.at.number)
	if errors.Is(err, sql.ErrNoRows) {
		done.term = []byte(itself)
		err = p.db.NewSelect().TableExpr("? AS s", t.scopes).Column("scope", "number").Where("tenant = ?", tenant).
			OrderExpr("scope DESC, number DESC").Limit(1).Scan(ctx, &done.at.scope.text, &done.at.number)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return done, p.failed(ctx, "read what was merged", err)
	}
	return done, nil
}

// sink lets a sheaf go down to where none below it has a place that comes before its own.
func (m *merging) sink(at int) {
	sinking := m.open[at]
	for {
		below := 2*at + 1
		if below >= len(m.open) {
			break
		}
		if right := below + 1; right < len(m.open) && m.open[right].before(&m.open[below].unbound) {
			below = right
		}
		if !m.open[below].before(&sinking.unbound) {
			break
		}
		m.open[at] = m.open[below]
		at = below
	}
	m.open[at] = sinking
}

// next goes on in a sheaf, and reads its next chunk at the end of one; false at the end of the sheaf.
func (m *merging) next(ctx context.Context, o *opened) (bool, error) {
	for {
		more, err := o.unbound.next() //nolint:staticcheck // QF1008: the sheaf's own step, not this one
		if more || err != nil {
			return more, err
		}
		found, p := false, m.rebuilder.knowledge
		err = database.ForEach(ctx, p.db.DB.DB, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&o.bytes)
		}, "SELECT bytes FROM "+string(m.tables.sheaves)+" WHERE tenant = ? AND number = ? AND chunk = ?", m.tenant.text, o.number, o.chunk)
		if err != nil {
			return false, p.failed(ctx, "read sheaves", err)
		}
		if !found {
			return false, nil
		}
		o.chunk++
	}
}

// batch takes the next places, as rows of the index of terms. Their values lie one beside the other, and each text is made once
// for all rows that follow each other with it.
func (m *merging) batch(ctx context.Context, most int) ([][]any, error) {
	columns := len(termsColumns)
	rows, values := make([][]any, 0, most), make([]any, 0, most*columns)
	for len(rows) < most && len(m.open) > 0 {
		least := m.open[0]
		if m.term.value == nil || m.term.text != string(least.term) {
			text := string(least.term)
			m.term = name{text, text}
		}
		begin := len(values)
		values = append(values, m.tenant.value, m.term.value, least.at.scope.value, least.at.number, least.at.count, least.at.words)
		rows = append(rows, values[begin:len(values):len(values)])
		more, err := m.next(ctx, least)
		if err != nil {
			return nil, err
		}
		if !more {
			last := len(m.open) - 1
			m.open[0] = m.open[last]
			m.open = m.open[:last]
		}
		if len(m.open) > 1 {
			m.sink(0)
		}
	}
	return rows, nil
}
