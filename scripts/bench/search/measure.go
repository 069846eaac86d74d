package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// measure loads a database, unless one is there, and asks it every question as every audience.
func measure(ctx context.Context, w *world, t *truths, engine database.Engine, o options, report *report) (err error) {
	db, away, err := o.Open(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, away()) }()
	base, err := projections.Open(ctx, db, projections.Settings{Embedder: lookup{w.vectors}})
	if err != nil {
		return err
	}
	started := time.Now()
	if o.Reuse == "" {
		if err := load(ctx, w, db, base); err != nil {
			return err
		}
	}
	if !o.database {
		for _, tenant := range []string{large, quiet} {
			if _, err := base.Meaning().LoadSketches(ctx, tenant); err != nil {
				return err
			}
		}
		defer bench.Hold(ctx, base.Meaning())()
	}
	report.Loading[engine] = time.Since(started).Round(time.Second).String()
	if report.Engines[engine], err = bench.Describe(ctx, db); err != nil {
		return err
	}
	r := &race{world: w, base: base, bare: &bare{world: w, db: db, expected: t.nearest}, rows: t.rows()}
	if err := r.run(ctx, engine, o.repeat); err != nil {
		return err
	}
	report.add(engine, r)
	return nil
}

// row is an audience's part of the race.
type row struct {
	audience
	visible  []int
	expected map[domain.Order][]map[string]bool // by question
	recall   map[domain.Order]float64
	plans    string
	times    []time.Duration
}

// truths are what should be found, worked out once for all engines.
type truths struct {
	nearest  []map[string]bool                    // by question: the hashes of the nearest of all
	expected []map[domain.Order][]map[string]bool // by audience, order and question: ids
	visible  [][]int                              // by audience
}

func newTruths(w *world) (*truths, error) {
	bar := bench.Watch("search exactly", len(w.questions))
	defer bar.End()
	t := &truths{}
	var seen []domain.Audience
	for _, a := range audiences {
		s, err := a.search(w.questions[0], domain.ByScore)
		if err != nil {
			return nil, err
		}
		seen = append(seen, s.Audience())
		var visible []int
		for i := range w.items {
			if a.sees(w, i, s.Audience()) {
				visible = append(visible, i)
			}
		}
		t.visible = append(t.visible, visible)
		t.expected = append(t.expected, map[domain.Order][]map[string]bool{})
	}
	for _, q := range w.questions {
		cosines := w.exact(q)
		t.nearest = append(t.nearest, w.nearest(cosines))
		for n := range audiences {
			for _, order := range orders {
				t.expected[n][order] = append(t.expected[n][order], w.rank(seen[n], order, t.visible[n], cosines))
			}
		}
		bar.Add(1)
	}
	return t, nil
}

// rows are what an engine is measured by.
func (t *truths) rows() []*row {
	rows := make([]*row, len(audiences))
	for n, a := range audiences {
		rows[n] = &row{audience: a, visible: t.visible[n], expected: t.expected[n], recall: map[domain.Order]float64{}}
	}
	return rows
}

// race asks every question of every row, the bare query's included, in an order drawn anew in every round: so whatever else
// the machine does meanwhile strikes all alike, and nobody always finds what another one has just read.
type race struct {
	world *world
	base  *projections.Knowledge
	bare  *bare
	rows  []*row
}

func (r *race) run(ctx context.Context, engine database.Engine, repeat int) error {
	random := rand.New(rand.NewPCG(3, 4))
	starts := len(r.world.questions) * (1 + len(r.rows))
	bar := bench.Watch(engine.String()+": search", (1+repeat)*starts)
	defer bar.End()
	for round := range 1 + repeat {
		for _, start := range random.Perm(starts) {
			if err := r.ask(ctx, start, round > 0); err != nil {
				return err
			}
			bar.Add(1)
		}
	}
	return nil
}

// ask asks one question of one row.
func (r *race) ask(ctx context.Context, start int, timed bool) error {
	n, place := start/(1+len(r.rows)), start%(1+len(r.rows))
	q := r.world.questions[n]
	if place == len(r.rows) {
		if err := r.bare.ask(ctx, n, q, timed); err != nil {
			return fmt.Errorf("the bare query: %w", err)
		}
		return nil
	}
	row := r.rows[place]
	if err := row.ask(ctx, r.base, n, q, timed); err != nil {
		return fmt.Errorf("%s: %w", row.name, err)
	}
	return nil
}

// ask searches in the default order. The first time it looks at what is found, in both orders; later, only at the clock.
func (r *row) ask(ctx context.Context, base *projections.Knowledge, n int, q question, timed bool) error {
	if !timed {
		return r.judge(ctx, base, n, q)
	}
	started := time.Now()
	s, err := r.search(q, domain.ByPriority)
	if err != nil {
		return err
	}
	if _, err := base.Search(ctx, s); err != nil {
		return err
	}
	r.times = append(r.times, time.Since(started))
	return nil
}

func (r *row) judge(ctx context.Context, base *projections.Knowledge, n int, q question) error {
	for _, order := range orders {
		s, err := r.search(q, order)
		if err != nil {
			return err
		}
		s.Explain = true
		answer, err := base.Search(ctx, s)
		if err != nil {
			return err
		}
		r.recall[order] += share(r.expected[order][n], answer)
		if r.plans != "" {
			continue
		}
		if answer.Explain.Passed != int64(len(r.visible)) {
			return fmt.Errorf("%d items pass, not %d", answer.Explain.Passed, len(r.visible))
		}
		var plans []string
		for _, plan := range answer.Explain.Plans {
			plans = append(plans, plan.Plan)
		}
		slices.Sort(plans)
		r.plans = strings.Join(slices.Compact(plans), "+")
	}
	return nil
}
