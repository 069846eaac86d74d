package vectors

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// large is a place that is worth a graph.
type large struct {
	tenant string
	scope  domain.Scope // empty for the whole tenant
	keep   bool         // it has shrunk: its graph stays if there is one, but is not made
}

// BuildGraph makes the graphs of places that have become large and drops those of places that are no
// longer, without keeping anybody from reading or writing. On SQLite it does nothing.
func (m *Projection) BuildGraph(ctx context.Context) error {
	n, ok := m.Nearest.(*PostgresNearest)
	if !ok {
		return nil
	}
	pool, err := m.db.OpenReadPool(ctx, 1)
	if err != nil {
		return rows.Failed(ctx, "build graphs", err)
	}
	defer pool.Close() //nolint:errcheck // nothing was written through it that is not committed
	conn, err := pool.Conn(ctx)
	if err != nil {
		return rows.Failed(ctx, "build graphs", err)
	}
	defer conn.Close()
	defer n.graphs.forget()
	if err := m.buildGraphs(ctx, conn); err != nil {
		return rows.Failed(ctx, "build graphs", err)
	}
	return nil
}

// buildGraphs runs outside a transaction, as CREATE INDEX CONCURRENTLY must. One process does it.
func (m *Projection) buildGraphs(ctx context.Context, conn bun.Conn) error {
	const lock = "hashtextextended('annals.graph', 0)"
	var mine bool
	if err := conn.NewRaw("SELECT pg_try_advisory_lock("+lock+")").Scan(ctx, &mine); err != nil || !mine {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+lock+")") //nolint:errcheck // ends with the connection at the latest
	places, err := m.largePlaces(ctx, conn)
	if err != nil {
		return err
	}
	there, err := m.graphs(ctx, conn)
	if err != nil {
		return err
	}
	var statements []string
	for _, place := range places {
		name := graphName(m.Tables, place.tenant, place.scope)
		valid, found := there[name]
		delete(there, name)
		if valid || place.keep && !found {
			continue
		}
		statements = append(statements, m.makeGraph(name, place)...)
	}
	for name := range there {
		statements = append(statements, "DROP INDEX CONCURRENTLY IF EXISTS "+name)
	}
	if len(statements) > 0 {
		statements = slices.Insert(statements, 0, enoughMemory)
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// enoughMemory gives the session 256 MB for the build of an index, unless the database grants it more.
const enoughMemory = `
	SELECT set_config('maintenance_work_mem', '256MB', false)
	WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('256MB')`

// makeGraph makes a graph. One that an interrupted build left is made anew.
func (m *Projection) makeGraph(name string, place large) []string {
	where := string(database.AppendString([]byte("tenant = "), place.tenant))
	if place.scope != "" {
		where = string(database.AppendString([]byte(where+" AND scope = "), string(place.scope)))
	}
	return []string{
		"DROP INDEX CONCURRENTLY IF EXISTS " + name,
		fmt.Sprintf("CREATE INDEX CONCURRENTLY %s ON %s USING hnsw (sketch bit_hamming_ops) WHERE %s", name, m.Tables.pieces, where),
	}
}

// largePlaces lists the places that are worth a graph, the largest first.
func (m *Projection) largePlaces(ctx context.Context, conn bun.Conn) ([]large, error) {
	rows, err := conn.QueryContext(ctx, `
		SELECT tenant, coalesce(scope, ''), count(*) < ?
		FROM ?
		GROUP BY GROUPING SETS ((tenant, scope), (tenant))
		HAVING count(*) >= ?
		ORDER BY count(*) DESC, tenant, scope
		LIMIT ?`,
		graphItems, m.Tables.pieces, graphItems/2, maxGraphs)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []large
	for rows.Next() {
		var place large
		if err := rows.Scan(&place.tenant, &place.scope, &place.keep); err != nil {
			return nil, err
		}
		list = append(list, place)
	}
	return list, rows.Err()
}
