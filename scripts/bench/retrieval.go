package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// retrieval measures how well questions find their evidence, with the built-in embedder.
type retrieval struct {
	settings
	Locomo string `help:"The directory with knowledge.ndjson and queries.ndjson." type:"existingdir" required:""`
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
func (r *retrieval) Run(ctx context.Context) error {
	records, err := os.ReadFile(filepath.Join(r.Locomo, "knowledge.ndjson"))
	if err != nil {
		return err
	}
	lines, err := os.ReadFile(filepath.Join(r.Locomo, "queries.ndjson"))
	if err != nil {
		return err
	}
	var queries []query
	var questions []map[string]any
	for line := range bytes.Lines(lines) {
		var q query
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("queries.ndjson: %w", err)
		}
		_, project, _ := strings.Cut(q.Scope, ":")
		queries = append(queries, q)
		questions = append(questions,
			map[string]any{"query": q.Text, "limit": depth, "context": map[string]any{"project_id": project}})
	}
	return r.run(ctx, "retrieval", func(ctx context.Context, s *session) error {
		load := func(server *server) error {
			if err := server.importLines(ctx, records); err != nil {
				return err
			}
			return server.caughtUp(ctx)
		}
		return s.withServers(ctx, nil, load, func(servers []*server) error {
			found, err := s.ask(ctx, servers, "a search", questions)
			if err != nil {
				return err
			}
			for n, server := range servers {
				s.addFound(server.program.name, queries, found[n])
			}
			return nil
		})
	})
}

// addFound adds the recall of each part of the questions, and the mean of one divided by the rank of the first hit.
func (s *session) addFound(program string, queries []query, found [][]string) {
	parts := map[string][]float64{}
	for i, q := range queries {
		recall, rank := share(found[i], q.Evidence), 0.0
		if first := slices.IndexFunc(found[i], func(id string) bool { return slices.Contains(q.Evidence, id) }); first >= 0 {
			rank = 1 / float64(first+1)
		}
		parts["MRR@10"] = append(parts["MRR@10"], rank)
		names := []string{"all", q.Category}
		if slices.Contains(heldBack, q.Scope) {
			names = append(names, "held back")
		}
		for _, part := range names {
			parts["recall@10, "+part] = append(parts["recall@10, "+part], recall)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		sum := 0.0
		for _, value := range parts[part] {
			sum += value
		}
		s.add(program, part, "", sum/float64(len(parts[part])))
	}
}
