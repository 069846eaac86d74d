package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// silent is the embedder when it does not answer questions: words stand alone.
type silent struct{ embedding.Embedder }

// Embed implements [embedding.Embedder].
func (s silent) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if kind == embedding.Query {
		return nil, embedding.ErrUnavailable
	}
	return s.Embedder.Embed(ctx, texts, kind)
}

// measure imports the records into a fresh database and asks it every question in three ways.
func measure(ctx context.Context, c corpus, engine database.Engine, o options, report *report) (err error) {
	db, _, away, err := bench.Fresh(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, away()) }()
	embedder := embedding.Builtin{}
	base, err := projections.Open(ctx, db, projections.Settings{Embedder: embedder})
	if err != nil {
		return err
	}
	if err := fill(ctx, c, db, base); err != nil {
		return err
	}
	if _, err := base.Meaning().LoadSketches(ctx, domain.DefaultTenant); err != nil { // as a server's background does
		return err
	}
	defer bench.Hold(ctx, base.Meaning())()
	wordsAlone, err := projections.Open(ctx, db, projections.Settings{Embedder: silent{embedder}})
	if err != nil {
		return err
	}
	if report.Engines[engine], err = bench.Describe(ctx, db); err != nil {
		return err
	}
	ways := []way{
		{"words alone", wordsAlone, nil},
		{"meaning alone", base, embedder},
		{"both", base, nil},
	}
	for _, w := range ways {
		found, times, err := w.askAll(ctx, c, engine, o.repeat)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		report.add(engine.String(), w.name, found, times)
	}
	return nil
}

// fill remembers every record, and lets the projection of meaning follow.
func fill(ctx context.Context, c corpus, db *database.DB, base *projections.Knowledge) (err error) {
	log := events.NewLog(db, base, events.Options{})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	by := domain.OpenPrincipal()
	bar := bench.Watch(db.Engine.String()+": remember and embed", 2*len(c.records))
	defer bar.End()
	for page := range slices.Chunk(c.records, 500) {
		submissions := make([]domain.Submission, len(page))
		for i, r := range page {
			command, err := r.command(by)
			if err != nil {
				return fmt.Errorf("record %s: %w", r.ID, err)
			}
			submissions[i] = domain.Submission{Command: command, By: by}
		}
		for i, result := range log.SubmitAll(ctx, submissions) {
			if result.Err != nil {
				return fmt.Errorf("remember %s: %w", page[i].ID, result.Err)
			}
		}
		bar.Add(len(page))
	}
	if err := bench.Understand(ctx, log, base.Meaning(), bar, by.Tenant); err != nil {
		return err
	}
	for more := true; more; { // as a server's background does
		if more, err = base.Compact(ctx, log); err != nil {
			return err
		}
	}
	return nil
}

// way is a way to search.
type way struct {
	name     string
	base     *projections.Knowledge
	embedder embedding.Embedder // set: questions are asked as vectors, without words
}

// askAll asks every question once for what it finds, then again for how long that takes.
func (w way) askAll(ctx context.Context, c corpus, engine database.Engine, repeat int) ([][]string, []time.Duration, error) {
	found := make([][]string, len(c.queries))
	var times []time.Duration
	bar := bench.Watch(engine.String()+": "+w.name, (1+repeat)*len(c.queries))
	defer bar.End()
	for round := range 1 + repeat {
		for i, q := range c.queries {
			ids, took, err := w.ask(ctx, q)
			if err != nil {
				return nil, nil, err
			}
			bar.Add(1)
			if round == 0 {
				found[i] = ids
				continue
			}
			if !slices.Equal(ids, found[i]) {
				return nil, nil, fmt.Errorf("%q found %v, and then %v", q.Text, found[i], ids)
			}
			times = append(times, took)
		}
	}
	return found, times, nil
}

// ask searches as an agent in the question's project does. The time is the whole search's, embedding the question
// included.
func (w way) ask(ctx context.Context, q query) ([]string, time.Duration, error) {
	started := time.Now()
	search := domain.Search{
		By: domain.OpenPrincipal(), Text: q.Text, Limit: depth,
		Context: domain.Context{Given: true, Entities: []domain.Entity{q.Scope.Entity()}},
	}
	if w.embedder != nil {
		vectors, err := w.embedder.Embed(ctx, []string{q.Text}, embedding.Query)
		if err != nil {
			return nil, 0, err
		}
		search.Text, search.Vector, search.MinScore = "", vectors[0], new(float64)
	}
	complete, err := search.Complete()
	if err != nil {
		return nil, 0, err
	}
	answer, err := w.base.Search(ctx, complete)
	took := time.Since(started)
	ids := make([]string, len(answer.Hits))
	for i, hit := range answer.Hits {
		ids[i] = hit.ID
	}
	return ids, took, err
}
