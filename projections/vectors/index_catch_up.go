package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

const (
	// indexAge is how long a search may miss what another process has embedded.
	indexAge = time.Second
	// maxCatchUp is how many items that other processes changed a search reads. If there are more, it reads everything
	// again.
	maxCatchUp = 500
)

// catchUp lets an index in memory that is older than indexAge read the items that other processes have embedded since,
// which it learns from the log. It does nothing while another search does that.
func (l *VectorIndex) catchUp(ctx context.Context, m *Projection, tenant string) error {
	l.mu.RLock()
	from, before, current := l.position, l.turns, !l.loaded || time.Since(l.checkedAt) <= indexAge
	l.mu.RUnlock()
	if current || !l.loadLock.TryLock() {
		return nil
	}
	defer l.loadLock.Unlock()
	position, turns, err := m.checkpoint(ctx, tenant)
	if err != nil {
		return err
	}
	e := &embedded{meaning: m, tenant: tenant, after: from, through: position, turns: turns}
	many := false
	if position > from && turns == before {
		if many, err = e.changed(ctx); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case many || position < from || turns != before: // the checkpoint went back, or the projection left the log's order
		l.unload()
	case l.position == from:
		l.replacePieces(e)
		l.position, l.checkedAt = position, time.Now()
	}
	return nil
}

// touching are the names of the facts that touched looks for.
func touching() []string {
	return []string{
		domain.Remembered{}.Name(), domain.Revised{}.Name(), domain.Rescoped{}.Name(), domain.Superseded{}.Name(),
		domain.Deleted{}.Name(), domain.Restored{}.Name(), domain.Redacted{}.Name(), domain.Erased{}.Name(),
		domain.Accepted{}.Name(), domain.ItemQuarantined{}.Name(), domain.Readmitted{}.Name(),
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
		ColumnExpr("k.number, k.scopes, m.text_hash, "+m.sketchColumn()).
		Where("k.tenant = ?", e.tenant).Where("k.id IN (?)", bun.List(ids)).OrderExpr("k.number, m.piece").Rows(ctx)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var p Piece
		var scopes, name, encoded []byte
		if err := rows.Scan(&p.number, &scopes, &name, &encoded); err != nil {
			return false, err
		}
		e.numbers = append(e.numbers, p.number)
		if name == nil { // an item without pieces
			continue
		}
		p.Hash = Hash(name)
		p.sketch, err = m.decodeSketch(encoded)
		if err := errors.Join(err, json.Unmarshal(scopes, &p.scopes)); err != nil {
			return false, err
		}
		e.pieces = append(e.pieces, p)
	}
	return false, rows.Err()
}

// Recheck lets the next search catch up with other processes, even if the index is younger than indexAge.
func (m *Projection) Recheck(tenant string) {
	l := m.Cache.indexOf(tenant)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checkedAt = time.Time{}
}
