package vectors

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	// indexAge is how long a search may miss what another process has embedded. It is also the pause before a tenant
	// that is searched for the first time is loaded.
	indexAge = time.Second
	// maxCatchUp is how many items that other processes changed a search reads. If there are more, everything is read
	// again, in the background.
	maxCatchUp = 500
)

// current returns a tenant's index if it is in memory, after catching up if it is older than indexAge; otherwise nil.
// A search never waits for a load.
func (n *IndexCache) current(ctx context.Context, m *Projection, tenant string) (*VectorIndex, error) {
	lent := n.entryFor(tenant)
	l, now := lent.index, time.Now()
	l.mu.Lock()
	l.searchedAt = now
	loaded, old := l.loaded, now.Sub(l.checkedAt) > indexAge
	l.mu.Unlock()
	if !loaded {
		return nil, nil
	}
	if old && l.loadLock.TryLock() {
		defer l.loadLock.Unlock()
		gone, err := l.catchUp(ctx, m, tenant)
		if err != nil {
			return nil, err
		}
		n.forgetVectors(tenant, l, gone)
		n.resize(tenant, lent)
	}
	if !l.isLoaded() {
		return nil, nil
	}
	return l, nil
}

// catchUp reads the items that other processes have embedded since, which it learns from the log. It returns the
// texts of removed pieces.
func (l *VectorIndex) catchUp(ctx context.Context, m *Projection, tenant string) (gone []Hash, err error) {
	position, turns, err := m.checkpoint(ctx, tenant)
	if err != nil {
		return nil, err
	}
	l.mu.RLock()
	from, before := l.position, l.turns
	l.mu.RUnlock()
	e := &embedded{meaning: m, tenant: tenant, after: from, through: position, turns: turns}
	many := false
	if position > from && turns == before {
		if many, err = e.changed(ctx); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case many || position < from || turns != before: // the checkpoint went back, or the projection left the log's order
		l.loaded = false
	case l.position == from:
		gone = l.replacePieces(e)
		l.position, l.checkedAt = position, time.Now()
	}
	return gone, nil
}

// touching are the names of the facts that touched looks for.
func touching() []string {
	return []string{
		domain.Remembered{}.Name(), domain.Revised{}.Name(), domain.Rescoped{}.Name(), domain.Superseded{}.Name(),
		domain.Deleted{}.Name(), domain.Restored{}.Name(), domain.Redacted{}.Name(), domain.Erased{}.Name(),
	}
}

// changed reads the current pieces of the items that have events between two positions. many is true if there are too
// many.
func (e *embedded) changed(ctx context.Context) (many bool, err error) {
	m := e.meaning
	var streams []string
	err = m.db.NewSelect().TableExpr("events AS e").ColumnExpr("DISTINCT e.stream").Where("e.tenant = ?", e.tenant).
		Where("e.position > ?", e.after).Where("e.position <= ?", e.through).Where("e.name IN (?)", bun.List(touching())).
		Limit(maxCatchUp+1).Scan(ctx, &streams)
	if err != nil || len(streams) == 0 || len(streams) > maxCatchUp {
		return len(streams) > maxCatchUp, err
	}
	var ids []string
	for _, stream := range streams {
		if id, found := domain.ItemOf(stream); found {
			ids = append(ids, id)
		}
	}
	rows, err := m.db.NewSelect().TableExpr("? AS k", m.catalogue.Active().Tables.Knowledge).
		Join("LEFT JOIN ? AS m ON m.tenant = k.tenant AND m.number = k.number", m.Tables.pieces).
		ColumnExpr("k.number, coalesce(m.scope, ''), coalesce(m.piece, 0), m.text_hash, "+m.sketchColumn()).
		Where("k.tenant = ?", e.tenant).Where("k.id IN (?)", bun.List(ids)).OrderExpr("k.number, m.piece").Rows(ctx)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var p Piece
		var scope domain.Scope
		var name, encoded []byte
		if err := rows.Scan(&p.number, &scope, &p.Index, &name, &encoded); err != nil {
			return false, err
		}
		if err := e.add(p, scope, name, encoded); err != nil {
			return false, err
		}
	}
	return false, rows.Err()
}

// add takes a row: a piece in one of its scopes, or an item without any.
func (e *embedded) add(p Piece, scope domain.Scope, name, encoded []byte) (err error) {
	if !slices.Contains(e.numbers, p.number) {
		e.numbers = append(e.numbers, p.number)
	}
	if name == nil {
		return nil
	}
	if last := len(e.pieces) - 1; last >= 0 && e.pieces[last].number == p.number && e.pieces[last].Index == p.Index {
		e.pieces[last].scopes = append(e.pieces[last].scopes, scope)
		return nil
	}
	p.Hash, p.scopes = Hash(name), []domain.Scope{scope}
	p.sketch, err = e.meaning.decodeSketch(encoded)
	e.pieces = append(e.pieces, p)
	return err
}

// HoldSketches loads the sketches of tenants that are searched, within the budget, until ctx ends. On SQLite searches
// load them themselves.
func (m *Projection) HoldSketches(ctx context.Context) {
	if m.db.Engine != database.Postgres {
		return
	}
	for {
		select {
		case <-time.After(indexAge):
		case <-ctx.Done():
			return
		}
		for _, tenant := range m.Cache.wantedTenants() {
			if err := m.LoadSketches(ctx, tenant); err != nil && ctx.Err() == nil {
				m.catalogue.Log.WarnContext(
					ctx, "sketches could not be read; the database searches them; retrying", "error", err,
				)
			}
		}
	}
}

// LoadSketches reads a tenant's sketches into memory if they are not there.
func (m *Projection) LoadSketches(ctx context.Context, tenant string) error {
	if _, err := m.Cache.load(ctx, m, tenant); err != nil {
		return rows.Failed(ctx, "read sketches", err)
	}
	return nil
}

// wantedTenants are the tenants that were searched in the last minute and whose sketches are not in memory.
func (n *IndexCache) wantedTenants() (tenants []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for tenant, lent := range n.Tenants {
		l := lent.index
		l.mu.RLock()
		if !l.loaded && time.Since(l.searchedAt) < time.Minute {
			tenants = append(tenants, tenant)
		}
		l.mu.RUnlock()
	}
	return tenants
}

// Recheck lets the next search catch up with other processes, even if the index is younger than indexAge.
func (m *Projection) Recheck(tenant string) {
	l := m.Cache.entryFor(tenant).index
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checkedAt = time.Time{}
}
