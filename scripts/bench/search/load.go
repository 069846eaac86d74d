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

// load remembers every item and lets what runs in the background of a server follow: words and meaning.
func load(ctx context.Context, w *world, db *database.DB, base *projections.Knowledge) (err error) {
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
