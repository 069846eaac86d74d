package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/scripts/bench"
)

// measure makes a log of a size and rebuilds it; the whole of it beside the reference and under load, too.
func measure(ctx context.Context, engine database.Engine, size int, whole bool, o options, r *report) (err error) {
	address := o.at
	if address == "" {
		var remove func() error
		if address, remove, err = bench.Place(ctx, engine); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remove()) }()
	}
	err = opened(ctx, address, func(db *database.DB) error {
		if r.Engines[engine], err = bench.Describe(ctx, db); err != nil {
			return err
		}
		filled, err := db.NewSelect().Table("events").Exists(ctx)
		if err != nil || filled {
			return err
		}
		return fill(ctx, db, size)
	})
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	rounds := 1
	if whole {
		rounds = o.rounds
	}
	result := rebuilt{Engine: engine.String(), Events: size}
	for range rounds {
		// In turns, so that both meet the same weather.
		busy := bench.Load()
		built, err := inChild(ctx, address, o.profile)
		if err != nil {
			return err
		}
		result.Rounds = append(result.Rounds, round{phases: built, Busy: busy})
		if !whole {
			continue
		}
		err = opened(ctx, address, func(db *database.DB) (err error) {
			last := &result.Rounds[len(result.Rounds)-1]
			last.copied, result.Rows, err = reference(ctx, db)
			last.Ratio = last.build() / last.Seconds
			if last.copied.Processor > 0 {
				last.Processors = last.phases.Processor / last.copied.Processor
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(result.Rounds, func(a, b round) int { return compare(a.Ratio, b.Ratio) })
	r.Rebuilds = append(r.Rebuilds, result)
	if !whole || o.clients == 0 {
		return nil
	}
	return opened(ctx, address, func(db *database.DB) error {
		load, err := underLoad(ctx, db, o)
		r.Loads = append(r.Loads, load)
		return err
	})
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// opened opens a migrated database for as long as do runs.
func opened(ctx context.Context, address string, do func(*database.DB) error) error {
	db, err := database.Open(ctx, address, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	err = db.Migrate(ctx)
	if err == nil {
		err = do(db)
	}
	return errors.Join(err, db.Close())
}
