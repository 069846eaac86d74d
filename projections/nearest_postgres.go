package projections

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// postgresNearest searches with pgvector: it scans the sketches of small places and walks the graphs of
// large ones, side by side, and compares vectors and reads items within the same statements.
type postgresNearest struct {
	meaning *Meaning
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

func (n *postgresNearest) learn(*embedded) {}

func (n *postgresNearest) search(ctx context.Context, q question) (nearby, error) {
	known, err := n.graphs.known(ctx, n.meaning)
	if err != nil {
		return nearby{}, n.meaning.knowledge.failed(ctx, "look at the graphs", err)
	}
	plans := make([]domain.ScopePlan, len(q.places))
	var scanned []int
	var tasks []func(context.Context) error
	found := make([][]reading, len(q.places)+1)
	for i, scope := range q.places {
		plans[i] = domain.ScopePlan{Scope: scope, Plan: planSketch}
		if !known[graphName(n.meaning.tables, q.search.By.Tenant, scope)] {
			scanned = append(scanned, i)
			continue
		}
		plans[i].Plan = planHNSW
		tasks = append(tasks, func(ctx context.Context) (err error) {
			found[i], err = n.walk(ctx, q, i)
			return err
		})
	}
	if len(scanned) > 0 {
		tasks = append(tasks, func(ctx context.Context) (err error) {
			found[len(q.places)], err = n.scan(ctx, q, scanned)
			return err
		})
	}
	if err := q.from.together(ctx, tasks...); err != nil {
		return nearby{}, n.meaning.knowledge.failed(ctx, "search by meaning", err)
	}
	return q.gather(slices.Concat(found...), plans), nil
}

// scan takes, of each place, the pieces whose sketches differ least, from the index alone.
func (n *postgresNearest) scan(ctx context.Context, q question, places []int) ([]reading, error) {
	listed := make([][]any, len(places))
	for i, place := range places {
		listed[i] = []any{place, string(q.places[place])}
	}
	// Adding nothing keeps the planner from walking a graph instead.
	near := n.pieces(q).OrderExpr("(m.sketch <~> ?) + 0", q.bits())
	first := q.places[places[0]]
	near = n.within(near, first, q.depths(first).sketches, 2, "place.scope")
	return n.read(ctx, scanSettings, n.best(q, tuples(listed), near, q.depths(first).vectors))
}

// walk takes the pieces of a place that its graph meets first. If a filter leaves too few of those that
// are met, all that pass are scanned.
func (n *postgresNearest) walk(ctx context.Context, q question, place int) ([]reading, error) {
	scope := q.places[place]
	depths := q.depths(scope)
	steps := min(3*depths.sketches/2, 1000)
	near := n.pieces(q).OrderExpr("m.sketch <~> ?", q.bits())
	near = n.within(near, scope, steps, 1.25, string(database.AppendString(nil, string(scope))))
	settings := fmt.Sprintf(walkSettings, steps, walkSteps)
	found, err := n.read(ctx, settings, n.best(q, tuples([][]any{{place, ""}}), near, depths.vectors))
	if err == nil && !isPlain(q.rest) && len(found) < depths.vectors {
		return n.scan(ctx, q, []int{place})
	}
	return found, err
}

// within limits pieces to as many of one place. In a whole tenant an item has its pieces once per scope:
// repeated more are read.
func (n *postgresNearest) within(pieces *bun.SelectQuery, place domain.Scope, limit int, repeated float64, scope string) *bun.SelectQuery {
	if place != "" {
		return pieces.Where("m.scope = " + scope).Limit(int64(limit))
	}
	all := pieces.Limit(int64(repeated * float64(limit)))
	return n.meaning.db.NewSelect().Distinct().TableExpr("(?) AS m", all)
}

// bits is the question's sketch as a literal.
func (q question) bits() bun.Safe {
	return bun.Safe("X'" + hex.EncodeToString(embedding.EncodeSketch(q.sketch)) + "'")
}

// pieces are those of the question's tenant whose items pass what the filter asks for.
func (n *postgresNearest) pieces(q question) *bun.SelectQuery {
	query := n.meaning.db.NewSelect().TableExpr("? AS m", n.meaning.tables.pieces).
		ColumnExpr("m.number, m.text_hash").Where("m.tenant = ?", q.search.By.Tenant)
	if isPlain(q.rest) {
		return query
	}
	p := q.from
	return p.where(query.Join("JOIN ? AS k ON k.tenant = m.tenant AND k.number = m.number", p.tables().knowledge),
		q.search.By.Tenant, q.rest)
}

// best compares the vectors of near pieces and reads the items of the best.
func (n *postgresNearest) best(q question, places bun.ListValues, near *bun.SelectQuery, most int) fmt.Stringer {
	return n.meaning.db.NewRaw(`
		SELECT place.place, best.number, 1 - best.distance, k.*
		FROM (VALUES ?) AS place (place, scope)
		CROSS JOIN LATERAL (
			SELECT near.number, (?) AS distance
			FROM (?) AS near
			ORDER BY distance
			LIMIT ?
		) AS best
		LEFT JOIN LATERAL (? OFFSET 0) AS k ON true`,
		places, n.distance(q, "near.text_hash"), near, most, q.from.slimQuery(q.search, "best.number"))
}

// distance selects how far a text's vector lies from the question's. It is a query of its own because
// a join might remember every vector it meets, in vain.
func (n *postgresNearest) distance(q question, hash string) *bun.SelectQuery {
	return n.meaning.db.NewSelect().TableExpr("? AS v", n.meaning.tables.vectors).
		ColumnExpr("v.vector <=> ?", pgvector.NewHalfVector(q.vector).String()).
		Where("v.tenant = ?", q.search.By.Tenant).Where("v.text_hash = " + hash)
}

// read reads the rows of a statement: place, number, cosine and the item, which is missing if it did not
// pass.
func (n *postgresNearest) read(ctx context.Context, settings string, query fmt.Stringer) ([]reading, error) {
	rows, err := n.meaning.db.QueryContext(ctx, settings+query.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []reading
	var number int64
	var cosine sql.NullFloat64
	var place int
	var row slimRow
	into := append([]any{&place, &number, &cosine}, row.into()...)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		found := reading{place: place, passed: row.id.Valid, near: near{cosine: cosine.Float64, compared: cosine.Valid}}
		if found.passed {
			if found.slim, err = row.slim(number); err != nil {
				return nil, err
			}
		}
		list = append(list, found)
	}
	return list, rows.Err()
}

// compare looks up the pieces of each item.
func (n *postgresNearest) compare(ctx context.Context, q question, numbers []int64) ([]near, error) {
	query := n.meaning.db.NewRaw(`
		SELECT 0, wanted.number, 1 - piece.distance, k.*
		FROM (VALUES ?) AS wanted (number)
		CROSS JOIN LATERAL (? OFFSET 0) AS k
		LEFT JOIN LATERAL (
			SELECT min((?)) AS distance
			FROM ? AS m
			WHERE m.tenant = ? AND m.number = wanted.number
			OFFSET 0
		) AS piece ON true`,
		tuples(singly(numbers)), q.from.slimQuery(q.search, "wanted.number"),
		n.distance(q, "m.text_hash"), n.meaning.tables.pieces, q.search.By.Tenant)
	found, err := n.read(ctx, scanSettings, query)
	if err != nil {
		return nil, n.meaning.knowledge.failed(ctx, "compare by meaning", err)
	}
	items := make([]near, len(found))
	for i := range found {
		items[i] = found[i].near
	}
	return items, nil
}
