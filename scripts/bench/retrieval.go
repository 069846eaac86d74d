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
	Questions string `help:"The directory with knowledge.ndjson and queries.ndjson." type:"existingdir" required:""`
}

// query is a question with the ids of the items that answer it.
type query struct {
	Text     string   `json:"query"`
	Scope    string   `json:"scope"`
	Evidence []string `json:"evidence"` // none if nothing answers it
	Category string   `json:"category"`
	Half     string   `json:"half"` // "b" was not used to tune the ranking
}

// heldBack are scopes whose questions were not used to tune the ranking.
var heldBack = []string{"project:conv-30", "project:conv-41", "project:conv-43"}

// Run implements the command.
func (r *retrieval) Run(ctx context.Context) error {
	records, err := os.ReadFile(filepath.Join(r.Questions, "knowledge.ndjson"))
	if err != nil {
		return err
	}
	lines, err := os.ReadFile(filepath.Join(r.Questions, "queries.ndjson"))
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
		question := map[string]any{"query": q.Text, "limit": depth}
		if _, project, ok := strings.Cut(q.Scope, ":"); ok {
			question["context"] = map[string]any{"project_id": project}
		}
		queries, questions = append(queries, q), append(questions, question)
	}
	return r.run(ctx, "retrieval", func(ctx context.Context, s *session) error {
		load := func(server *server) error {
			if err := server.importLines(ctx, records); err != nil {
				return err
			}
			return server.caughtUp(ctx)
		}
		return s.withServers(ctx, []string{"ANNALS_EMBEDDING_MODEL="}, load, func(servers []*server) error {
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

// addFound adds the recall of each part of the questions, whether the first hits are of a right session, and the mean
// of one divided by the rank of the first right hit. Of questions without an answer it counts the hits.
func (s *session) addFound(program string, queries []query, found [][]string) {
	parts := map[string][]float64{}
	add := func(part string, value float64) { parts[part] = append(parts[part], value) }
	for i, q := range queries {
		if len(q.Evidence) == 0 {
			add("hits without an answer", float64(len(found[i])))
			add("silent without an answer", is(len(found[i]) == 0))
			continue
		}
		rank := 0.0
		if first := slices.IndexFunc(found[i], func(id string) bool { return slices.Contains(q.Evidence, id) }); first >= 0 {
			rank = 1 / float64(first+1)
		}
		add("MRR@10", rank)
		names := []string{"all", q.Category}
		if slices.Contains(heldBack, q.Scope) || q.Half == "b" {
			names = append(names, "held back")
		}
		for _, part := range names {
			add("recall@10, "+part, share(found[i], q.Evidence))
		}
		var sessions []string
		for _, id := range found[i] {
			if session := sessionOf(id); !slices.Contains(sessions, session) {
				sessions = append(sessions, session)
			}
		}
		for _, first := range []int{1, 5} {
			add(fmt.Sprintf("session, hit@%d", first), is(slices.ContainsFunc(q.Evidence, func(right string) bool {
				return slices.Contains(sessions[:min(first, len(sessions))], sessionOf(right))
			})))
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

func is(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// sessionOf is the session of a remark: its id without the number after the last dot.
func sessionOf(id string) string { return id[:max(0, strings.LastIndexByte(id, '.'))] }
