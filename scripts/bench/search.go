package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/pgvector/pgvector-go"
)

// search measures searches by meaning.
type search struct {
	settings
	Items     int `help:"Items, with a vector of 1,536 dimensions each." default:"100000"`
	Questions int `help:"Questions." default:"30"`
}

// depth is how many hits count.
const depth = 10

// audience is the audience of questions.
type audience struct {
	name    string
	scopes  []string       // nil for the whole tenant
	context map[string]any // of the requests
	kind    string         // only items of this type
	scope   string         // only items of this scope
	words   bool           // ask by words, too
	meaning bool           // ask by a vector
}

var (
	ada      = map[string]any{"user_id": "ada", "project_id": "apollo", "team_id": "core"}
	adaAtOrg = map[string]any{"user_id": "ada", "project_id": "apollo", "team_id": "core", "org_id": "acme"}
	nearAda  = []string{"user:ada", "project:apollo", "team:core", "public"}
)

var wholeTenant = audience{name: "the whole tenant", meaning: true}

var audiences = []audience{
	{name: "public, 5,027 items", meaning: true, scopes: nearAda[3:], context: map[string]any{"user_id": "new"}},
	{name: "user, project, team, public", meaning: true, scopes: nearAda, context: ada},
	{
		name: "these and org, 25,695 items", meaning: true, scopes: append([]string{"org:acme"}, nearAda...),
		context: adaAtOrg,
	},
	wholeTenant,
	{name: "… a type that 40 % have", meaning: true, kind: types[1]},
	{name: "… a type that 1 % have", meaning: true, kind: types[0]},
	{name: "… only one user's scope", meaning: true, scopes: nearAda[:1], scope: nearAda[0]},
	{name: "… by words too", meaning: true, words: true},
}

// Run implements the command. It loads a database for each program.
func (b *search) Run(ctx context.Context) error {
	w := newWorld(b.Items, b.Questions)
	model := w.model()
	defer model.Close()
	environment := []string{
		"ANNALS_EMBEDDING_URL=" + model.URL, "ANNALS_EMBEDDING_MODEL=bench",
		fmt.Sprintf("ANNALS_EMBEDDING_DIMS=%d", dims),
	}
	return b.run(ctx, "search", func(ctx context.Context, s *session) error {
		load := func(server *server) error {
			if err := s.load(ctx, server, "", w.items); err != nil {
				return err
			}
			return server.restart(ctx, environment...) // indexes over vectors are built at a start
		}
		return s.withServers(ctx, environment, load, func(servers []*server) error {
			if err := warm(ctx, servers, w.questions[:1]); err != nil {
				return err
			}
			for _, a := range audiences {
				best := newBest(w.questions)
				for i, it := range w.items {
					if a.sees(it) {
						best.learn(it.ID, w.vectors[i])
					}
				}
				if err := a.measure(ctx, s, servers, a.name, w.questions, best); err != nil {
					return err
				}
			}
			if s.engine == "postgres" {
				return s.measurePgvector(ctx, servers[0].database, w)
			}
			return nil
		})
	})
}

// warm asks until a search of the whole tenant does not get faster: then sketches are in memory and indexes are built.
func warm(ctx context.Context, servers []*server, questions []question) error {
	body := wholeTenant.requests(questions)[0]
	for _, server := range servers {
		for before := time.Hour; ; time.Sleep(time.Second) {
			began := time.Now()
			if _, err := server.search(ctx, body); err != nil {
				return err
			}
			took := time.Since(began)
			if took > before*9/10 {
				break
			}
			before = took
		}
	}
	return nil
}

// measure asks every server all questions, and compares what a search by meaning finds with what an exact one does.
func (a audience) measure(
	ctx context.Context, s *session, servers []*server, name string, questions []question, best *best,
) error {
	found, err := s.ask(ctx, servers, name, a.requests(questions))
	if err != nil || a.words {
		return err
	}
	for n, server := range servers {
		sum := 0.0
		for q := range questions {
			sum += share(found[n][q].ids, best.ids(q))
		}
		s.add(server.program.name, name+", recall@10", "", sum/float64(len(questions)))
	}
	return nil
}

func (a audience) requests(questions []question) (bodies []map[string]any) {
	for _, q := range questions {
		body := map[string]any{"limit": depth}
		if a.meaning {
			body["vector"], body["order"], body["min_score"] = q.vector, "score", 0
		}
		if a.words {
			body["query"] = q.words
		}
		for name, value := range map[string]string{"types": a.kind, "scope": a.scope} {
			if value != "" {
				body[name] = value
			}
		}
		if a.context != nil {
			body["context"] = a.context
		}
		bodies = append(bodies, body)
	}
	return bodies
}

// sees is whether the audience may see the item, and the item passes its filter.
func (a audience) sees(it item) bool {
	return (a.kind == "" || a.kind == it.Type) && (a.scopes == nil ||
		slices.ContainsFunc(it.Scopes, func(scope string) bool { return slices.Contains(a.scopes, scope) }))
}

// share is the share of the expected ids that were found.
func share(found, expected []string) float64 {
	count := 0
	for _, id := range expected {
		if slices.Contains(found, id) {
			count++
		}
	}
	return float64(count) / float64(max(1, len(expected)))
}

// measurePgvector runs the simplest query over whole vectors, with an index that it creates.
func (s *session) measurePgvector(ctx context.Context, address string, w *world) error {
	return withPool(address, func(pool *sql.DB) error {
		pool.SetMaxOpenConns(1)
		var table string // of the model of the environment; those of other models have other dimensions
		if err := pool.QueryRowContext(ctx, `
			SELECT attrelid::regclass
			FROM pg_attribute
			WHERE attname = 'vector' AND format_type(atttypid, atttypmod) = $1 AND attrelid::regclass::text LIKE 'vectors%'`,
			fmt.Sprintf("halfvec(%d)", dims)).Scan(&table); err != nil {
			return fmt.Errorf("find the vectors: %w", err)
		}
		for _, statement := range []string{
			"SET maintenance_work_mem = '1GB'", "SET hnsw.ef_search = 100", "SET jit = off", "SET enable_seqscan = off",
			"CREATE INDEX bench_graph ON " + table + " USING hnsw (vector halfvec_cosine_ops)", "ANALYZE " + table,
		} {
			if _, err := pool.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		for range 1 + s.Rounds {
			var times []time.Duration
			for _, q := range w.questions {
				began := time.Now()
				var hits int
				if err := pool.QueryRowContext(ctx,
					"SELECT count(*) FROM (SELECT text_hash FROM "+table+" ORDER BY vector <=> $1 LIMIT 10) AS nearest",
					pgvector.NewHalfVector(q.vector)).Scan(&hits); err != nil || hits != depth {
					return fmt.Errorf("%d hits: %w", hits, err)
				}
				times = append(times, time.Since(began))
			}
			s.addTimes("pgvector, no filter", wholeTenant.name, times, 0.95)
		}
		return nil
	})
}
