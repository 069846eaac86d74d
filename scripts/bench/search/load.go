package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// keep loads a database of each engine and leaves it.
func keep(ctx context.Context, w *world, o options) error {
	return o.Each(func(engine database.Engine) error { return keepOne(ctx, w, o, engine) })
}

func keepOne(ctx context.Context, w *world, o options, engine database.Engine) (err error) {
	db, away, err := o.Open(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, away()) }()
	base, err := projections.Open(ctx, db, projections.Settings{Embedder: lookup{w.vectors}})
	if err != nil {
		return err
	}
	return load(ctx, w, db, base)
}

// load remembers every item, lets what runs in the background of a server follow (words, meaning and graphs), and makes
// the graph of the bare query.
func load(ctx context.Context, w *world, db *database.DB, base *projections.Knowledge) error {
	if err := fill(ctx, w, db, base); err != nil {
		return err
	}
	if err := base.Meaning().BuildGraph(ctx); err != nil {
		return err
	}
	return (&bare{world: w, db: db}).prepare(ctx)
}

func fill(ctx context.Context, w *world, db *database.DB, base *projections.Knowledge) (err error) {
	log := events.NewLog(db, base, events.Options{})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	bar := bench.Watch(db.Engine.String()+": remember", len(w.items))
	for page := range slices.Chunk(w.commands(), 500) {
		for _, result := range log.SubmitAll(ctx, page) {
			if result.Err != nil {
				return fmt.Errorf("remember: %w", result.Err)
			}
		}
		bar.Add(len(page))
	}
	bar.End()
	bar = bench.Watch(db.Engine.String()+": embed", len(w.items))
	defer bar.End()
	for more := true; more; {
		if more, err = base.Compact(ctx, log); err != nil {
			return err
		}
	}
	return bench.Understand(ctx, log, base.Meaning(), bar, large, quiet)
}

func (w *world) commands() []domain.Submission {
	list := make([]domain.Submission, len(w.items))
	for i, it := range w.items {
		by := domain.OpenPrincipal()
		by.Tenant = it.tenant
		command, err := domain.Remember{By: by, ID: idOf(i), Knowledge: domain.Remembered{
			Type: typeOf(i), Owner: "org:acme", Scopes: it.scopes, Text: domain.Text{Content: it.content},
		}}.Complete()
		if err != nil {
			panic(err) // the world makes no such item
		}
		list[i] = domain.Submission{Command: command, By: by}
	}
	return list
}

func idOf(i int) string { return fmt.Sprintf("item-%06d", i) }
