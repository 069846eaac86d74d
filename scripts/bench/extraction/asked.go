package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/annals-kb/annals/briefing"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// asked is how long it takes to ask for what was learned: one search, and what an agent should know for the same question.
type asked struct {
	Engine     string  `json:"engine"`
	Questions  int     `json:"questions"`
	SearchP50  float64 `json:"search_p50_ms"`
	SearchP99  float64 `json:"search_p99_ms"`
	ContextP50 float64 `json:"context_p50_ms"`
	ContextP99 float64 `json:"context_p99_ms"`
	Ratio      float64 `json:"ratio"` // of the medians
	Told       float64 `json:"items_per_context"`
}

// ask asks every question for whom it is about, both ways, one after the other.
func (s *server) ask(ctx context.Context, o options) (a asked, err error) {
	type about struct {
		Text  string       `json:"query"`
		Scope domain.Scope `json:"scope"`
	}
	questions, err := readLines[about](filepath.Join(o.locomo, "queries.ndjson"))
	if err != nil {
		return a, err
	}
	bar := bench.Watch("understand", len(questions))
	defer bar.End()
	if err := bench.Understand(ctx, s.log, s.base.Meaning(), bar, domain.DefaultTenant); err != nil {
		return a, err
	}
	for more := true; more; { // as a server's background does
		if more, err = s.base.Compact(ctx, s.log); err != nil {
			return a, err
		}
	}
	if _, err := s.base.Meaning().LoadSketches(ctx, domain.DefaultTenant); err != nil {
		return a, err
	}
	author := briefing.Author{Reader: projections.Reader{Knowledge: s.base}}
	var searches, contexts []time.Duration
	questions = questions[:min(len(questions), 400)]
	told := 0
	for _, q := range questions {
		owner := domain.Entity(domain.User + ":" + domain.Entity(q.Scope).ID())
		whose := domain.Context{Given: true, Entities: []domain.Entity{owner}}
		search, err := domain.Search{By: domain.OpenPrincipal(), Text: q.Text, Context: whose}.Complete()
		if err != nil {
			return a, err
		}
		began := time.Now()
		if _, err := s.base.Search(ctx, search); err != nil {
			return a, err
		}
		searches = append(searches, time.Since(began))
		need, err := domain.Need{By: domain.OpenPrincipal(), Moment: domain.AtQuery, About: q.Text, Context: whose}.Complete()
		if err != nil {
			return a, err
		}
		began = time.Now()
		brief, err := author.Brief(ctx, need)
		if err != nil {
			return a, err
		}
		contexts = append(contexts, time.Since(began))
		told += len(brief.Items)
	}
	one, all := bench.SpreadOf(searches), bench.SpreadOf(contexts)
	a.Questions, a.Told = len(questions), float64(told)/float64(len(questions))
	a.SearchP50, a.SearchP99 = bench.Milliseconds(one.P50), bench.Milliseconds(one.P99)
	a.ContextP50, a.ContextP99 = bench.Milliseconds(all.P50), bench.Milliseconds(all.P99)
	a.Ratio = float64(all.P50) / float64(one.P50)
	return a, nil
}
