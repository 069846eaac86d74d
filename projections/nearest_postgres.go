package projections

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// postgresNearest searches with pgvector.
type postgresNearest struct {
	meaning *Meaning

	mu    sync.Mutex
	graph graph
}

// graph is what is known of the HNSW index of the space.
type graph struct {
	ready   bool
	vectors float64 // in the whole table, of every tenant
	checked time.Time
}

const (
	// exactItems is how many items a scope may hold for its vectors to be compared one by one.
	exactItems = 256
	// graphItems and graphShare are how many items, and which share of all vectors, a scope must hold
	// for walking the graph: below, the walk meets too few of them.
	graphItems = 10_000
	graphShare = 0.12
	// graphAge is for how long what is known of the graph serves.
	graphAge = 10 * time.Second
)

// nearestSettings hold for the statement that they stand before, in one round trip with it. A walk goes
// on until it has met enough of the scope: without, it ends after its first steps, most of which may
// have led to others' pieces. (At an ef_search of 200 the planner would rather read the whole table.)
// What is searched is in memory or soon will be, where a page costs the same wherever it lies.
const nearestSettings = `
	SET LOCAL hnsw.ef_search = 100;
	SET LOCAL hnsw.iterative_scan = relaxed_order;
	SET LOCAL random_page_cost = 1.1;
	`

func (n *postgresNearest) learn(*embedded) {}

// search asks for every scope's best pieces in one statement, and compares their vectors.
func (n *postgresNearest) search(ctx context.Context, q question) (map[int64]float64, []domain.ScopePlan, error) {
	parts, plans, err := n.plan(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	cosines := map[int64]float64{}
	if len(parts) == 0 {
		return cosines, plans, nil
	}
	near := parts[0]
	for _, part := range parts[1:] {
		near = near.Union(part)
	}
	vector := pgvector.NewHalfVector(q.vector).String()
	query := n.meaning.db.NewSelect().With("near", near).
		TableExpr("near").
		Join("CROSS JOIN LATERAL (SELECT vector FROM ? WHERE tenant = ? AND text_hash = near.text_hash OFFSET 0) AS v",
			n.meaning.tables.vectors, q.search.By.Tenant).
		ColumnExpr("near.number, 1 - min(v.vector <=> ?)", vector).
		GroupExpr("near.number")
	rows, err := n.meaning.db.QueryContext(ctx, nearestSettings+query.String())
	if err != nil {
		return nil, nil, n.meaning.knowledge.failed(ctx, "search by meaning", err)
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var cosine float64
		if err := rows.Scan(&number, &cosine); err != nil {
			return nil, nil, err
		}
		cosines[number] = cosine
	}
	return cosines, plans, rows.Err()
}

// plan chooses, per scope, how to find the pieces whose vectors will be compared.
func (n *postgresNearest) plan(ctx context.Context, q question) ([]*bun.SelectQuery, []domain.ScopePlan, error) {
	graph, err := n.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	var parts []*bun.SelectQuery
	var plans []domain.ScopePlan
	var small []domain.Scope
	plain := isPlain(q.search.Filter)
	for _, s := range q.bySize() {
		plan := planSketch
		switch {
		case s.items <= exactItems:
			plan = planExact
			small = append(small, s.scope)
		case graph.ready && plain && s.items >= graphItems && float64(s.items) >= graphShare*graph.vectors:
			plan = planHNSW
			parts = append(parts, n.wrap(n.walk(q, s.scope)))
		default:
			parts = append(parts, n.wrap(n.scan(q, s.scope)))
		}
		plans = append(plans, domain.ScopePlan{Scope: s.scope, Items: s.items, Plan: plan})
	}
	if len(small) > 0 {
		parts = append(parts, n.all(q, small))
	}
	if len(q.known) > 0 {
		parts = append(parts, n.known(q))
	}
	return parts, plans, nil
}

// wrap lets a part keep its own order and limit within a union.
func (n *postgresNearest) wrap(part *bun.SelectQuery) *bun.SelectQuery {
	return n.meaning.db.NewSelect().TableExpr("(?) AS part", part).Column("number", "text_hash")
}

func (n *postgresNearest) pieces(q question) *bun.SelectQuery {
	return n.meaning.db.NewSelect().TableExpr("? AS m", n.meaning.tables.pieces).
		ColumnExpr("m.number, m.text_hash").Where("m.tenant = ?", q.search.By.Tenant)
}

// known are the pieces of the items asked about.
func (n *postgresNearest) known(q question) *bun.SelectQuery {
	in := place{engine: database.Postgres, tenant: q.search.By.Tenant, table: n.meaning.tables.pieces, alias: "m"}
	return lookUp(n.meaning.db.NewSelect().ColumnExpr("m.number, m.text_hash"), in, singly(q.known), "number")
}

// filtered asks that the pieces' items pass the filter.
func (n *postgresNearest) filtered(query *bun.SelectQuery, q question) *bun.SelectQuery {
	if isPlain(q.search.Filter) {
		return query
	}
	p := q.from
	return p.where(query.Join("JOIN ? AS k ON k.tenant = m.tenant AND k.number = m.number", p.tables().knowledge),
		q.search.By.Tenant, q.search.Filter)
}

// all takes every piece of small scopes.
func (n *postgresNearest) all(q question, scopes []domain.Scope) *bun.SelectQuery {
	query := n.filtered(n.pieces(q), q)
	if scopes[0] == "" {
		return query
	}
	return query.Where("m.scope IN (?)", bun.List(scopes))
}

// scan takes the pieces of a scope whose sketches differ least, from the index alone.
func (n *postgresNearest) scan(q question, scope domain.Scope) *bun.SelectQuery {
	bits := "X'" + hex.EncodeToString(embedding.EncodeSketch(embedding.Sketch(q.vector))) + "'"
	query := n.filtered(n.pieces(q), q).OrderExpr("m.sketch <~> " + bits)
	if scope == "" { // an item has its pieces once per scope
		return query.Limit(2 * rescored)
	}
	return query.Where("m.scope = ?", scope).Limit(rescored)
}

// walk takes the pieces of a scope that the graph meets first.
func (n *postgresNearest) walk(q question, scope domain.Scope) *bun.SelectQuery {
	query := n.meaning.db.NewSelect().TableExpr("? AS v", n.meaning.tables.vectors).
		Join("JOIN ? AS m ON m.tenant = v.tenant AND m.text_hash = v.text_hash", n.meaning.tables.pieces).
		ColumnExpr("m.number, m.text_hash").Where("v.tenant = ?", q.search.By.Tenant).
		OrderExpr("v.vector <=> ?", pgvector.NewHalfVector(q.vector).String()).Limit(rescored / 4)
	if scope == "" {
		return query
	}
	return query.Where("m.scope = ?", scope)
}

// look finds out whether there is a graph and over how many vectors.
func (n *postgresNearest) look(ctx context.Context) (graph, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.graph.checked) < graphAge {
		return n.graph, nil
	}
	found := graph{checked: time.Now()}
	err := n.meaning.db.QueryRowContext(ctx, `
		SELECT t.reltuples,
		       EXISTS (SELECT 1
		               FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
		               WHERE i.indrelid = t.oid AND i.indisvalid AND c.relname = ?)
		FROM pg_class AS t
		WHERE t.oid = to_regclass(?)`, n.graphName(), string(n.meaning.tables.vectors)).
		Scan(&found.vectors, &found.ready)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return found, n.meaning.knowledge.failed(ctx, "look at the index of vectors", err)
	}
	n.graph = found
	return found, nil
}

func (n *postgresNearest) graphName() string { return string(n.meaning.tables.vectors) + "_graph" }

// BuildGraph builds the HNSW index of the space once there are enough vectors to make it worth
// while, without keeping anybody from reading or writing. On SQLite it does nothing.
func (m *Meaning) BuildGraph(ctx context.Context) error {
	n, ok := m.nearest.(*postgresNearest)
	if !ok {
		return nil
	}
	var vectors int64
	err := m.db.NewRaw("SELECT count(*) FROM (SELECT 1 FROM ? LIMIT ?) AS first", m.tables.vectors, graphItems).Scan(ctx, &vectors)
	if err != nil || vectors < graphItems {
		return err
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return m.knowledge.failed(ctx, "build the index of vectors", err)
	}
	defer conn.Close()
	if err := n.build(ctx, conn); err != nil {
		return m.knowledge.failed(ctx, "build the index of vectors", err)
	}
	n.mu.Lock()
	n.graph.checked = time.Time{}
	n.mu.Unlock()
	return nil
}

// build runs outside a transaction, as CREATE INDEX CONCURRENTLY must. One process does it; an
// index that an earlier, interrupted build left invalid is made anew.
func (n *postgresNearest) build(ctx context.Context, conn bun.Conn) error {
	const lock = "hashtextextended('annals.graph', 0)"
	var mine bool
	if err := conn.NewRaw("SELECT pg_try_advisory_lock("+lock+")").Scan(ctx, &mine); err != nil || !mine {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+lock+")") //nolint:errcheck // ends with the connection at the latest
	var valid bool
	err := conn.NewRaw("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)", n.graphName()).Scan(ctx, &valid)
	if valid || err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for _, statement := range []string{
		"SET maintenance_work_mem = '512MB'",
		fmt.Sprintf("DROP INDEX CONCURRENTLY IF EXISTS %s", n.graphName()),
		fmt.Sprintf("CREATE INDEX CONCURRENTLY %s ON %s USING hnsw (vector halfvec_cosine_ops)", n.graphName(), n.meaning.tables.vectors),
		fmt.Sprintf("ANALYZE %s", n.meaning.tables.vectors),
		"RESET maintenance_work_mem",
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
