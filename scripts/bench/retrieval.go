package main

import (
	"bytes"
	"cmp"
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
	Questions []string `help:"Directories, each with knowledge.ndjson and queries.ndjson." type:"existingdir" required:""`
}

// query is a question with the ids of the items that answer it.
type query struct {
	Text     string   `json:"query"`
	Scope    string   `json:"scope"`
	Evidence []string `json:"evidence"` // none if nothing answers it
	Category string   `json:"category"`
	Half     string   `json:"half"` // "b" was not used to tune the ranking
}

// isHeldBack tells whether a question was not used to tune the ranking: half of a company's, three conversations of
// LoCoMo, and all of BEAM's.
func (q query) isHeldBack() bool {
	return q.Half == "b" || strings.HasPrefix(q.Scope, "project:beam-") ||
		slices.Contains([]string{"project:conv-30", "project:conv-41", "project:conv-43"}, q.Scope)
}

// Run implements the command.
func (r *retrieval) Run(ctx context.Context) error {
	return r.run(ctx, "retrieval", func(ctx context.Context, s *session) error {
		for _, dir := range r.Questions {
			if err := s.askSet(ctx, dir); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
		}
		return nil
	})
}

// askSet asks the questions of a directory: as a client asks, and for the ten nearest items whatever their score.
func (s *session) askSet(ctx context.Context, dir string) error {
	records, err := os.ReadFile(filepath.Join(dir, "knowledge.ndjson"))
	if err != nil {
		return err
	}
	lines, err := os.ReadFile(filepath.Join(dir, "queries.ndjson"))
	if err != nil {
		return err
	}
	var queries []query
	var plain, nearest []map[string]any
	for line := range bytes.Lines(lines) {
		var q query
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("queries.ndjson: %w", err)
		}
		question := map[string]any{"query": q.Text, "limit": depth}
		if _, project, ok := strings.Cut(q.Scope, ":"); ok {
			question["context"] = map[string]any{"project_id": project}
		}
		queries, plain = append(queries, q), append(plain, question)
		question = maps.Clone(question)
		question["min_score"] = 0.01
		nearest = append(nearest, question)
	}
	load := func(server *server) error {
		if err := server.importLines(ctx, records); err != nil {
			return err
		}
		return server.caughtUp(ctx)
	}
	return s.withServers(ctx, []string{"ANNALS_EMBEDDING_MODEL="}, load, func(servers []*server) error {
		set := filepath.Base(dir)
		for _, way := range []struct {
			name      string
			questions []map[string]any
		}{{set + ", ten nearest", nearest}, {set + ", in bands", plain}} {
			found, err := s.ask(ctx, servers, way.name+": a search", way.questions)
			if err != nil {
				return err
			}
			for n, server := range servers {
				s.addFound(server.program.name, way.name, queries, found[n])
			}
		}
		return nil
	})
}

// addFound adds the recall of each part of the questions, the held-back ones first, whether the first hits are of a
// right session, and the mean of one divided by the rank of the first right hit. Of questions without an answer it
// counts the hits, and of answers in bands the right first hits that are not sure.
func (s *session) addFound(program, way string, queries []query, found []answer) {
	inBands := slices.ContainsFunc(found, func(a answer) bool { return a.sure > 0 })
	parts := map[string][]float64{}
	add := func(part string, value float64) { parts[part] = append(parts[part], value) }
	for i, q := range queries {
		ids := found[i].ids
		if len(q.Evidence) == 0 {
			add("hits without an answer", float64(len(ids)))
			if inBands {
				add("sure hits without an answer", float64(found[i].sure))
			}
			continue
		}
		rank := 0.0
		if first := slices.IndexFunc(ids, func(id string) bool { return slices.Contains(q.Evidence, id) }); first >= 0 {
			rank = 1 / float64(first+1)
		}
		if inBands && rank == 1 {
			add("right first hit not sure", is(found[i].sure == 0))
		}
		names := []string{"all", q.Category}
		if q.isHeldBack() {
			names = append(names, "held back", "held back, "+q.Category)
			add("MRR@10, held back", rank)
		}
		for _, part := range names {
			add("recall@10, "+part, share(ids, q.Evidence))
		}
		var sessions []string
		for _, id := range ids {
			if session := sessionOf(id); !slices.Contains(sessions, session) {
				sessions = append(sessions, session)
			}
		}
		add("session, hit@5", is(slices.ContainsFunc(q.Evidence, func(right string) bool {
			return slices.Contains(sessions[:min(5, len(sessions))], sessionOf(right))
		})))
	}
	heldBack := func(part string) float64 { return is(strings.Contains(part, "held back")) }
	names := slices.SortedFunc(maps.Keys(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(heldBack(b), heldBack(a)), cmp.Compare(a, b))
	})
	for _, part := range names {
		sum := 0.0
		for _, value := range parts[part] {
			sum += value
		}
		s.add(program, way+": "+part, "", sum/float64(len(parts[part])))
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
