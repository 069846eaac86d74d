package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pgvector/pgvector-go"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/embedding"
)

// bare is what a search by vector takes at least where nothing is filtered, ranked or read: on PostgreSQL one query of ten
// hashes along an HNSW graph of whole vectors, which is made for it here; on SQLite comparing every vector in this
// process's memory.
type bare struct {
	world    *world
	db       *database.DB
	expected []map[string]bool // by question: the hashes of the nearest
	recall   float64
	times    []time.Duration
}

func (b *bare) name() string {
	if b.db.Engine == database.Postgres {
		return "bare: ORDER BY vector <=> … LIMIT 10"
	}
	return "bare: every vector, in memory"
}

func (b *bare) ask(ctx context.Context, n int, q question, timed bool) error {
	started := time.Now()
	found, err := b.search(ctx, q)
	if err != nil {
		return err
	}
	if timed {
		b.times = append(b.times, time.Since(started))
		return nil
	}
	for _, hash := range found {
		if b.expected[n][hash] {
			b.recall += 1.0 / depth
		}
	}
	return nil
}

func (b *bare) search(ctx context.Context, q question) (found []string, err error) {
	if b.db.Engine == database.SQLite {
		return b.world.scan(q), nil
	}
	// Without arguments the driver sends it in one round trip.
	rows, err := b.db.QueryContext(ctx, fmt.Sprintf(bareSettings+"SELECT text_hash FROM vectors_1 ORDER BY vector <=> '%s' LIMIT %d",
		pgvector.NewHalfVector(q.vector).String(), depth))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var hash []byte
		if err := rows.Scan(&hash); err != nil {
			return nil, err
		}
		found = append(found, string(hash))
	}
	return found, rows.Err()
}

// bareSettings stand before the query, in one round trip with it, as they do before the product's.
const bareSettings = "SET LOCAL hnsw.ef_search = 100; SET LOCAL jit = off; SET LOCAL enable_seqscan = off; "

// prepare makes the graph.
func (b *bare) prepare(ctx context.Context) error {
	if b.db.Engine == database.SQLite {
		return nil
	}
	for _, statement := range []string{
		"SET maintenance_work_mem = '512MB'; CREATE INDEX bare_graph ON vectors_1 USING hnsw (vector halfvec_cosine_ops); RESET maintenance_work_mem",
		"ANALYZE vectors_1",
	} {
		if _, err := b.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make the bare query's graph: %w", err)
		}
	}
	return nil
}

// scan compares every vector, one after the other, as it must for one question.
func (w *world) scan(q question) []string {
	cosines := make([]float64, len(w.items))
	for i, v := range w.vectors {
		cosines[i] = embedding.Cosine(v, q.vector)
	}
	return slices.Collect(maps.Keys(w.nearest(cosines)))
}
