package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// retrieval measures how well questions find their evidence, with the built-in embedder.
type retrieval struct {
	settings
	Locomo string `help:"The directory with knowledge.ndjson and queries.ndjson." type:"existingdir" required:""`
	//nolint:lll // a tag is one string
}

// query is a question with the ids of the items that answer it.
type query struct {
	Text     string   `json:"query"`
	Scope    string   `json:"scope"`
	Evidence []string `json:"evidence"`
	Category string   `json:"category"`
}

// heldBack are scopes whose questions were not used to tune the ranking.
var heldBack = []string{"project:conv-30", "project:conv-41", "project:conv-43"}

// Run implements the command.
func (r *retrieval) Run(ctx context.Context) error { return r.run(ctx, "retrieval", r.measure) }

func (r *retrieval) measure(ctx context.Context, s *session) error {
	queries, err := readQueries(filepath.Join(r.Locomo, "queries.ndjson"))
	if err != nil {
		return err
	}
	records, err := os.ReadFile(filepath.Join(r.Locomo, "knowledge.ndjson"))
	if err != nil {
		return err
	}
	load := func(server *server) error {
		answers, err := server.request(ctx, http.MethodPost, "/v1/knowledge", "application/x-ndjson",
			bytes.NewReader(records))
		if err != nil {
			return err
		}
		if refused := bytes.Count(answers, []byte(`"status":"error"`)); refused > 0 {
			return fmt.Errorf("%d records were refused", refused)
		}
		return server.caughtUp(ctx)
	}
	return s.withServers(ctx, nil, load, func(servers []*server) error {
		for round := range 1 + s.Rounds {
			if err := r.ask(ctx, s, servers, queries, round > 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// ask asks each question of all servers in turn. timed rounds measure the time, the others what is found.
func (r *retrieval) ask(ctx context.Context, s *session, servers []*server, queries []query, timed bool) error {
	times := make([][]time.Duration, len(servers))
	sums := make([]map[string][2]float64, len(servers)) // recall and the number of questions, by part of the questions
	for n := range servers {
		sums[n] = map[string][2]float64{}
	}
	for _, q := range queries {
		_, id, _ := strings.Cut(q.Scope, ":")
		body := map[string]any{"query": q.Text, "limit": depth, "context": map[string]any{"project_id": id}}
		for n, server := range servers {
			began := time.Now()
			found, err := server.search(ctx, body)
			if err != nil {
				return err
			}
			times[n] = append(times[n], time.Since(began))
			parts := []string{"all", q.Category}
			if slices.Contains(heldBack, q.Scope) {
				parts = append(parts, "held back")
			}
			expected := map[string]bool{}
			rank := 0.0
			for _, id := range q.Evidence {
				expected[id] = true
			}
			if first := slices.IndexFunc(found, func(id string) bool { return expected[id] }); first >= 0 {
				rank = 1 / float64(first+1)
			}
			for _, part := range parts {
				sum := sums[n][part]
				sums[n][part] = [2]float64{sum[0] + share(found, expected), sum[1] + 1}
			}
			sum := sums[n]["MRR"]
			sums[n]["MRR"] = [2]float64{sum[0] + rank, sum[1] + 1}
		}
	}
	for n, server := range servers {
		if timed {
			s.add(server.program.name, "a search, p50", "ms", less, percentile(times[n], 0.50))
			s.add(server.program.name, "a search, p95", "ms", less, percentile(times[n], 0.95))
			continue
		}
		for _, part := range []string{"all", "held back", "single-hop", "multi-hop", "temporal", "open-domain"} {
			s.add(server.program.name, "recall@10, "+part, "", more, sums[n][part][0]/sums[n][part][1])
		}
		s.add(server.program.name, "MRR@10", "", more, sums[n]["MRR"][0]/sums[n]["MRR"][1])
	}
	return nil
}

func readQueries(path string) (queries []query, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := json.NewDecoder(bufio.NewReader(file)); ; {
		var q query
		if err := lines.Decode(&q); errors.Is(err, io.EOF) {
			return queries, nil
		} else if err != nil {
			return nil, err
		}
		queries = append(queries, q)
	}
}
