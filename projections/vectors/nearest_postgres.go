package vectors

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
)

// postgresNearest searches the sketches that are in memory as [memoryNearest] does. Until a tenant's sketches are
// read, pgvector scans them.
type postgresNearest struct{ meaning *Projection }

// scanSettings are sent before a statement, in the same round trip. They leave the planner no choice that depends on
// statistics of a table. They turn JIT off, because compiling the plan takes longer than running it.
const scanSettings = `
	SET LOCAL jit = off;
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	`

func (n postgresNearest) Closest(ctx context.Context, q Question) (Shortlist, error) {
	l, err := n.meaning.Cache.current(ctx, n.meaning, q.search.By.Tenant)
	if err != nil {
		return Shortlist{}, rows.Failed(ctx, "read new sketches", err)
	}
	if l != nil {
		return q.among(ctx, l)
	}
	s := Shortlist{Pieces: make([][]NearPiece, len(q.Scopes)), Plans: make([]domain.ScopePlan, len(q.Scopes))}
	for i, scope := range q.Scopes {
		s.Plans[i] = domain.ScopePlan{Scope: scope, Plan: PlanSketch}
	}
	if err := n.scan(ctx, q, s.Pieces); err != nil {
		return Shortlist{}, rows.Failed(ctx, "search by meaning", err)
	}
	return s, nil
}

// scan selects, for each scope, the pieces whose sketches differ least, from the index alone.
func (n postgresNearest) scan(ctx context.Context, q Question, into [][]NearPiece) error {
	listed := make([][]any, len(q.Scopes))
	for i, scope := range q.Scopes {
		listed[i] = []any{i, string(scope)}
	}
	near := n.pieces(q).OrderExpr("m.sketch <~> ?", q.bits())
	first := q.Scopes[0]
	near = n.within(near, first, q.Depths(first).scanned, 2, "place.scope")
	return n.list(ctx, scanSettings, n.meaning.db.NewRaw(
		"SELECT place.place, near.number, near.text_hash\nFROM (VALUES ?) AS place (place, scope)\n"+
			"CROSS JOIN LATERAL (?) AS near",
		rows.Tuples(listed), near), into)
}

// PiecesOf returns the pieces of items that were found by words.
func (n postgresNearest) PiecesOf(ctx context.Context, q Question, s Shortlist, numbers []int64) ([]NearPiece, error) {
	if s.index != nil {
		return s.index.piecesOf(numbers), nil
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	in := rows.Table{Engine: n.meaning.db.Engine, Tenant: q.search.By.Tenant, Table: n.meaning.Tables.pieces, Alias: "m"}
	found := make([][]NearPiece, 1)
	query := rows.LookUp(
		n.meaning.db.NewSelect().ColumnExpr("DISTINCT 0, m.number, m.text_hash"), in, rows.SingleKeys(numbers), "number",
	)
	if err := n.list(ctx, scanSettings, query, found); err != nil {
		return nil, rows.Failed(ctx, "look pieces up", err)
	}
	return found[0], nil
}

// list reads rows of the index of a scope, the number of an item and the hash of a piece.
func (n postgresNearest) list(ctx context.Context, settings string, query fmt.Stringer, into [][]NearPiece) error {
	rows, err := n.meaning.db.QueryContext(ctx, settings+query.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	var place int
	var number int64
	var name sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&place, &number, &name); err != nil {
			return err
		}
		into[place] = append(into[place], NearPiece{number, Hash(name)})
	}
	return rows.Err()
}

// within limits the pieces of one scope. In a whole tenant a piece has a row for each of its item's scopes, so
// repeated times as many rows are read there.
func (n postgresNearest) within(
	pieces *bun.SelectQuery, place domain.Scope, limit int, repeated float64, scope string,
) *bun.SelectQuery {
	if place != "" {
		return pieces.Where("m.scope = " + scope).Limit(int64(limit))
	}
	all := pieces.Limit(int64(repeated * float64(limit)))
	return n.meaning.db.NewSelect().Distinct().TableExpr("(?) AS m", all)
}

// bits is the question's sketch as an SQL literal.
func (q Question) bits() bun.Safe {
	return bun.Safe("X'" + hex.EncodeToString(embedding.EncodeSketch(q.sketch)) + "'")
}

// pieces selects the pieces of the question's tenant whose items pass the filter.
func (n postgresNearest) pieces(q Question) *bun.SelectQuery {
	query := n.meaning.db.NewSelect().TableExpr("? AS m", n.meaning.Tables.pieces).
		ColumnExpr("m.number, m.text_hash").Where("m.tenant = ?", q.search.By.Tenant)
	if rows.IsPlain(q.rest) {
		return query
	}
	p := q.from
	return p.Where(query.Join("JOIN ? AS k ON k.tenant = m.tenant AND k.number = m.number", p.Tables.Knowledge),
		q.search.By.Tenant, q.rest)
}
