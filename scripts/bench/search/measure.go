package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// measure loads a database, unless one is there, and asks it every question as every audience.
func measure(ctx context.Context, w *world, engine database.Engine, o options, report *report) (err error) {
	db, away, err := open(ctx, engine, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, away()) }()
	base, err := projections.Open(ctx, db, projections.Settings{Embedder: lookup{w.vectors}})
	if err != nil {
		return err
	}
	started := time.Now()
	if o.reuse == "" {
		if err := load(ctx, w, db, base); err != nil {
			return err
		}
	}
	if err := base.Meaning().BuildGraph(ctx); err != nil {
		return err
	}
	report.Loading[engine] = time.Since(started).Round(time.Second).String()
	if report.Engines[engine], err = bench.Describe(ctx, db); err != nil {
		return err
	}
	rows, err := newRows(w)
	if err != nil {
		return err
	}
	bare := &bare{world: w, db: db, expected: w.nearest()}
	if err := bare.prepare(ctx); err != nil {
		return err
	}
	r := &race{world: w, base: base, bare: bare, rows: rows}
	if err := r.run(ctx, engine, o.repeat); err != nil {
		return err
	}
	report.add(engine, r)
	return nil
}

func open(ctx context.Context, engine database.Engine, o options) (*database.DB, func() error, error) {
	if o.reuse != "" {
		db, err := database.Open(ctx, o.reuse, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, nil, err
		}
		return db, db.Close, nil
	}
	db, url, away, err := bench.Fresh(ctx, engine)
	if err == nil && o.keep {
		fmt.Fprintf(os.Stderr, "%s is kept: --engine %s --reuse '%s'\n", engine, engine, url)
		away = db.Close
	}
	return db, away, err
}

// row is an audience's part of the race.
type row struct {
	audience
	visible  []int
	seen     domain.Audience
	expected map[domain.Order][]map[string]bool // by question
	recall   map[domain.Order]float64
	plans    string
	times    []time.Duration
}

// newRows works out what each audience should find.
func newRows(w *world) ([]*row, error) {
	bar := bench.Watch("search exactly", len(w.questions))
	defer bar.End()
	var rows []*row
	for _, a := range audiences {
		s, err := a.search(w.questions[0], domain.ByScore)
		if err != nil {
			return nil, err
		}
		r := &row{audience: a, seen: s.Audience(), expected: map[domain.Order][]map[string]bool{}, recall: map[domain.Order]float64{}}
		for i := range w.items {
			if a.sees(w, i, r.seen) {
				r.visible = append(r.visible, i)
			}
		}
		rows = append(rows, r)
	}
	for _, q := range w.questions {
		cosines := w.exact(q)
		for _, r := range rows {
			for _, order := range orders {
				r.expected[order] = append(r.expected[order], w.rank(r.audience, r.seen, order, r.visible, cosines))
			}
		}
		bar.Add(1)
	}
	return rows, nil
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
