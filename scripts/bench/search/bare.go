package main

import (
	"context"
	"crypto/sha256"
	"fmt"
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

// prepare makes the graph, if it is not there.
func (b *bare) prepare(ctx context.Context) error {
	if b.db.Engine == database.SQLite {
		return nil
	}
	for _, statement := range []string{
		"SET maintenance_work_mem = '512MB'; CREATE INDEX IF NOT EXISTS bare_graph ON vectors_1 USING hnsw (vector halfvec_cosine_ops); RESET maintenance_work_mem",
		"ANALYZE vectors_1",
	} {
		if _, err := b.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make the bare query's graph: %w", err)
		}
	}
	return nil
}

// scan compares every vector, and keeps the nearest as it goes.
func (w *world) scan(q question) []string {
	type near struct {
		item   int
		cosine float64
	}
	var best []near
	for i, v := range w.vectors {
		cosine := embedding.Cosine(v, q.vector)
		if len(best) == depth && cosine <= best[depth-1].cosine {
			continue
		}
		place := 0
		for place < len(best) && best[place].cosine >= cosine {
			place++
		}
		best = slices.Insert(best, place, near{i, cosine})
		best = best[:min(depth, len(best))]
	}
	hashes := make([]string, len(best))
	for n, b := range best {
		hash := sha256.Sum256([]byte(w.items[b.item].content))
		hashes[n] = string(hash[:])
	}
	return hashes
}

// nearest is what the bare query should find.
func (w *world) nearest() []map[string]bool {
	all := make([]map[string]bool, len(w.questions))
	for n, q := range w.questions {
		all[n] = make(map[string]bool, depth)
		for _, hash := range w.scan(q) {
			all[n][hash] = true
		}
	}
	return all
}
