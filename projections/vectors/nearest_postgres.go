package vectors

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/projections/rows"
)

// PostgresNearest searches sketches in memory, as SQLite's does, where there is room for a tenant's and
// they have been read. Else pgvector does: it scans the sketches of small places and walks the graphs of
// large ones, side by side. The database compares the vectors that are not in memory either.
type PostgresNearest struct {
	meaning *Projection
	Cache   *IndexCache
	graphs  graphs
}

// These settings hold for the statement that they stand before, in one round trip with it. They leave
// the planner no choice that depends on what it believes about a table. What is searched is in memory or
// soon will be, and compiling a plan costs more than running it.
const (
	scanSettings = `
	SET LOCAL jit = off;
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	`
	// A walk gives its first steps at once, and goes on while the filter leaves too few.
	walkSettings = scanSettings + `
	SET LOCAL enable_sort = off;
	SET LOCAL hnsw.ef_search = %d;
	SET LOCAL hnsw.iterative_scan = relaxed_order;
	SET LOCAL hnsw.max_scan_tuples = %d;
	`
)

// walkSteps is how many pieces a walk may meet before a scan of all that pass is cheaper.
const walkSteps = 4000

func (n *PostgresNearest) update(e *embedded) { n.Cache.update(e) }

func (n *PostgresNearest) Closest(ctx context.Context, q Question) (Shortlist, error) {
	l, err := n.Cache.current(ctx, n.meaning, q.search.By.Tenant)
	if err != nil {
		return Shortlist{}, rows.Failed(ctx, "read new sketches", err)
	}
	if l != nil {
		return q.among(ctx, l)
	}
	known, err := n.graphs.known(ctx, n.meaning)
	if err != nil {
		return Shortlist{}, rows.Failed(ctx, "look at the graphs", err)
	}
	s := Shortlist{Pieces: make([][]NearPiece, len(q.Scopes)), Plans: make([]domain.ScopePlan, len(q.Scopes))}
	var scanned []int
	var tasks []func(context.Context) error
	for i, scope := range q.Scopes {
		s.Plans[i] = domain.ScopePlan{Scope: scope, Plan: PlanSketch}
		if !known[graphName(n.meaning.Tables, q.search.By.Tenant, scope)] {
			scanned = append(scanned, i)
			continue
		}
		s.Plans[i].Plan = planHNSW
		tasks = append(tasks, func(ctx context.Context) error { return n.walk(ctx, q, i, s.Pieces) })
	}
	if len(scanned) > 0 {
		tasks = append(tasks, func(ctx context.Context) error { return n.scan(ctx, q, scanned, s.Pieces) })
	}
	if err := q.from.InParallel(ctx, tasks...); err != nil {
		return Shortlist{}, rows.Failed(ctx, "search by meaning", err)
	}
	return s, nil
}

// scan takes, of each place, the pieces whose sketches differ least, from the index alone.
func (n *PostgresNearest) scan(ctx context.Context, q Question, places []int, into [][]NearPiece) error {
	listed := make([][]any, len(places))
	for i, place := range places {
		listed[i] = []any{place, string(q.Scopes[place])}
	}
	// Adding nothing keeps the planner from walking a graph instead.
	near := n.pieces(q).OrderExpr("(m.sketch <~> ?) + 0", q.bits())
	first := q.Scopes[places[0]]
	near = n.within(near, first, q.Depths(first).scanned, 2, "place.scope")
	return n.list(ctx, scanSettings, n.meaning.db.NewRaw(
		"SELECT place.place, near.number, near.text_hash\nFROM (VALUES ?) AS place (place, scope)\nCROSS JOIN LATERAL (?) AS near",
		rows.Tuples(listed), near), into)
}

// walk takes the pieces of a place that its graph meets first. If a filter leaves too few of those that
// are met, all that pass are scanned.
func (n *PostgresNearest) walk(ctx context.Context, q Question, place int, into [][]NearPiece) error {
	scope := q.Scopes[place]
	depths := q.Depths(scope)
	steps := min(3*depths.scanned/2, 1000)
	near := n.pieces(q).OrderExpr("m.sketch <~> ?", q.bits())
	near = n.within(near, scope, steps, 1.25, string(database.AppendString(nil, string(scope))))
	settings := fmt.Sprintf(walkSettings, steps, walkSteps)
	err := n.list(ctx, settings, n.meaning.db.NewRaw("SELECT ?, near.number, near.text_hash FROM (?) AS near", place, near), into)
	if err == nil && !rows.IsPlain(q.rest) && len(into[place]) < depths.Vectors {
		into[place] = nil
		return n.scan(ctx, q, []int{place}, into)
	}
	return err
}

// list reads the rows of a statement: place, number and the hash of the piece's text.
func (n *PostgresNearest) list(ctx context.Context, settings string, query fmt.Stringer, into [][]NearPiece) error {
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

// within limits pieces to as many of one place. In a whole tenant an item has its pieces once per scope:
// repeated more are read.
func (n *PostgresNearest) within(pieces *bun.SelectQuery, place domain.Scope, limit int, repeated float64, scope string) *bun.SelectQuery {
	if place != "" {
		return pieces.Where("m.scope = " + scope).Limit(int64(limit))
	}
	all := pieces.Limit(int64(repeated * float64(limit)))
	return n.meaning.db.NewSelect().Distinct().TableExpr("(?) AS m", all)
}

// bits is the question's sketch as a literal.
func (q Question) bits() bun.Safe {
	return bun.Safe("X'" + hex.EncodeToString(embedding.EncodeSketch(q.sketch)) + "'")
}

// pieces are those of the question's tenant whose items pass what the filter asks for.
func (n *PostgresNearest) pieces(q Question) *bun.SelectQuery {
	query := n.meaning.db.NewSelect().TableExpr("? AS m", n.meaning.Tables.pieces).
		ColumnExpr("m.number, m.text_hash").Where("m.tenant = ?", q.search.By.Tenant)
	if rows.IsPlain(q.rest) {
		return query
	}
	p := q.from
	return p.Where(query.Join("JOIN ? AS k ON k.tenant = m.tenant AND k.number = m.number", p.Tables.Knowledge),
		q.search.By.Tenant, q.rest)
}
