package main

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/pgvector/pgvector-go"
	"golang.org/x/sync/errgroup"
)

// search measures searches by meaning.
type search struct {
	settings
	Items     int `help:"Items, with a vector of 1,536 dimensions each." default:"100000"`
	Questions int `help:"Questions." default:"30"`
}

// depth is how many hits count.
const depth = 10

// audience is the audience of the questions.
type audience struct {
	name   string
	scopes []string       // with public; nil for the whole tenant
	fields map[string]any // more fields of the request
	words  bool           // also ask by words
}

var ada = map[string]any{"user_id": "ada", "project_id": "apollo", "team_id": "core"}

var adaInOrg = map[string]any{"user_id": "ada", "project_id": "apollo", "team_id": "core", "org_id": "acme"}

var wholeTenant = audience{name: "the whole tenant"}

var audiences = []audience{
	{
		name: "public, 5,027 items", scopes: []string{"public"},
		fields: map[string]any{"context": map[string]any{"user_id": "new"}},
	},
	{
		name: "user, project, team, public", scopes: []string{"user:ada", "project:apollo", "team:core", "public"},
		fields: map[string]any{"context": ada},
	},
	{
		name:   "these and org, 25,695 items",
		scopes: []string{"user:ada", "project:apollo", "team:core", "public", "org:acme"},
		fields: map[string]any{"context": adaInOrg},
	},
	wholeTenant,
	{name: "… a type that 40 % have", fields: map[string]any{"types": types[1]}},
	{name: "… a type that 1 % have", fields: map[string]any{"types": types[0]}},
	{name: "… only one user's scope", scopes: []string{"user:ada"}, fields: map[string]any{"scope": "user:ada"}},
	{name: "… by words too", words: true},
}

// Run implements the command.
func (b *search) Run(ctx context.Context) error { return b.run(ctx, "search", b.measure) }

// measure loads a database for each program, and asks all of them every question in turn.
func (b *search) measure(ctx context.Context, s *session) error {
	w := newWorld(b.Items, b.Questions)
	model := w.model()
	defer model.Close()
	environment := []string{
		"ANNALS_EMBEDDING_URL=" + model.URL, "ANNALS_EMBEDDING_MODEL=bench",
		fmt.Sprintf("ANNALS_EMBEDDING_DIMS=%d", dims),
	}
	load := func(server *server) error {
		began := time.Now()
		if err := server.load(ctx, slices.Values(w.items)); err != nil {
			return err
		}
		if err := server.caughtUp(ctx); err != nil {
			return err
		}
		s.add(server.program.name, "load and embed", "s", none, time.Since(began).Seconds())
		_, err := server.restart(ctx, environment...) // indexes over vectors are built at a start
		return err
	}
	return s.withServers(ctx, environment, load, func(servers []*server) error {
		if err := warm(ctx, servers, w); err != nil {
			return err
		}
		for _, a := range audiences {
			if err := a.measure(ctx, s, servers, w); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
		}
		if s.engine == "postgres" {
			return s.measurePgvector(ctx, servers[0].database, w)
		}
		return nil
	})
}

// warm asks until two searches of the whole tenant in a row take about as long: then sketches are in memory and
// indexes are built.
func warm(ctx context.Context, servers []*server, w *world) error {
	for _, server := range servers {
		before := time.Hour
		for range 60 {
			began := time.Now()
			for _, q := range w.questions[:min(5, len(w.questions))] {
				if _, err := wholeTenant.ask(ctx, server, q); err != nil {
					return err
				}
			}
			took := time.Since(began)
			if took > before*9/10 && took < before*11/10 {
				break
			}
			before = took
			time.Sleep(time.Second)
		}
	}
	return nil
}

// measure asks every server all questions, in a random order per round. The first round compares what is found.
func (a audience) measure(ctx context.Context, s *session, servers []*server, w *world) error {
	expected := w.nearest(a)
	for round := range 1 + s.Rounds {
		times := make([][]time.Duration, len(servers))
		recall := make([]float64, len(servers))
		for _, turn := range rand.New(rand.NewPCG(3, uint64(round))).Perm(len(servers) * len(w.questions)) {
			q, n := turn/len(servers), turn%len(servers)
			began := time.Now()
			found, err := a.ask(ctx, servers[n], w.questions[q])
			if err != nil {
				return err
			}
			times[n] = append(times[n], time.Since(began))
			recall[n] += expected[q].share(found) / float64(len(w.questions))
		}
		for n, server := range servers {
			switch {
			case round > 0:
				s.add(server.program.name, a.name+", p50", "ms", less, percentile(times[n], 0.50))
				s.add(server.program.name, a.name+", p95", "ms", less, percentile(times[n], 0.95))
			case !a.words:
				s.add(server.program.name, a.name+", recall@10", "", more, recall[n])
			}
		}
	}
	return nil
}

// ask searches, and returns the ids of the hits.
func (a audience) ask(ctx context.Context, server *server, q question) ([]string, error) {
	body := map[string]any{"vector": q.vector, "limit": depth, "order": "score", "min_score": 0}
	maps.Copy(body, a.fields)
	if a.words {
		body["query"] = q.words
	}
	return server.search(ctx, body)
}

func (s *server) search(ctx context.Context, body map[string]any) (ids []string, err error) {
	var answer struct {
		Items []struct {
			Knowledge struct {
				ID string `json:"id"`
			} `json:"knowledge"`
		} `json:"items"`
	}
	err = s.post(ctx, "/v1/search", body, &answer)
	for _, hit := range answer.Items {
		ids = append(ids, hit.Knowledge.ID)
	}
	return ids, err
}

// share is the share of the expected ids that were found.
func share(found []string, expected map[string]bool) float64 {
	count := 0
	for _, id := range found {
		if expected[id] {
			count++
		}
	}
	return float64(count) / float64(max(1, len(expected)))
}

// visible yields the items that the audience may see and that pass its filter.
func (a audience) visible(w *world) iter.Seq[int] {
	wanted := a.fields["types"]
	return func(yield func(int) bool) {
		for i, it := range w.items {
			seen := a.scopes == nil ||
				slices.ContainsFunc(it.Scopes, func(scope string) bool { return slices.Contains(a.scopes, scope) })
			if seen && (wanted == nil || wanted == it.Type) && !yield(i) {
				return
			}
		}
	}
}

// nearest is what an exact search finds for each question.
func (w *world) nearest(a audience) []*nearest {
	all := make([]*nearest, len(w.questions))
	visible := slices.Collect(a.visible(w))
	var comparing errgroup.Group
	comparing.SetLimit(runtime.NumCPU())
	for q := range w.questions {
		comparing.Go(func() error {
			all[q] = &nearest{}
			for _, i := range visible {
				all[q].add(w.items[i].ID, dot(w.vectors[i], w.questions[q].vector))
			}
			return nil
		})
	}
	_ = comparing.Wait() // no comparison fails
	return all
}

// measurePgvector runs the simplest query over whole vectors, with an index that it creates.
func (s *session) measurePgvector(ctx context.Context, address string, w *world) error {
	return withPool(address, func(pool *sql.DB) error {
		pool.SetMaxOpenConns(1)
		for _, statement := range []string{
			"SET maintenance_work_mem = '1GB'", "SET hnsw.ef_search = 100", "SET jit = off", "SET enable_seqscan = off",
			"CREATE INDEX bench_graph ON vectors_1 USING hnsw (vector halfvec_cosine_ops)", "ANALYZE vectors_1",
		} {
			if _, err := pool.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		query, err := pool.PrepareContext(ctx, "SELECT text_hash FROM vectors_1 ORDER BY vector <=> $1 LIMIT 10")
		if err != nil {
			return err
		}
		defer query.Close()
		for range 1 + s.Rounds {
			var times []time.Duration
			for _, q := range w.questions {
				began := time.Now()
				if hashes, err := count(ctx, query, pgvector.NewHalfVector(q.vector)); err != nil || hashes != depth {
					return fmt.Errorf("%d hits: %w", hashes, err)
				}
				times = append(times, time.Since(began))
			}
			s.add("pgvector, no filter", "the whole tenant, p95", "ms", less, percentile(times, 0.95))
		}
		return nil
	})
}

// count runs a query and counts its rows.
func count(ctx context.Context, query *sql.Stmt, argument any) (count int, err error) {
	rows, err := query.QueryContext(ctx, argument)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		count++
	}
	return count, rows.Err()
}
