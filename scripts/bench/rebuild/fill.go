package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// fill writes a log and the first version of the projection.
func fill(ctx context.Context, db *database.DB, size int) error {
	h := newHistory()
	bar := bench.Watch(fmt.Sprintf("%s: record %d events", db.Engine, size), size)
	const page = 20_000
	for written := 0; written < size; written += page {
		records := make([]events.Record, min(page, size-written))
		for i := range records {
			var err error
			if records[i], err = h.next(); err != nil {
				return err
			}
		}
		err := db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return record(ctx, db.Engine, tx, records) })
		if err != nil {
			return err
		}
		bar.Add(len(records))
	}
	bar.End()
	if db.Engine == database.Postgres {
		if _, err := db.ExecContext(ctx, "VACUUM (ANALYZE) events, event_texts"); err != nil {
			return err
		}
	}
	return within(ctx, db, slog.New(slog.DiscardHandler), func(_ *projections.Knowledge, _ *events.Log, r *projections.Rebuilder) error {
		if _, err := r.Start(ctx, domain.RebuildOrder{Repair: true}); err != nil {
			return err
		}
		return ended(ctx, r)
	})
}

var (
	eventColumns = []string{
		"tenant", "position", "event_id", "stream", "version", "name", "schema_version",
		"recorded_at", "actor", "authentication", "data", "text_commitment", "hash",
	}
	textColumns = []string{"tenant", "position", "salt", "text"}
)

func record(ctx context.Context, engine database.Engine, tx bun.Tx, records []events.Record) error {
	var rows, texts [][]any
	for _, r := range records {
		var commitment any // NULL, and not empty
		if r.Text != nil {
			commitment = r.TextCommitment
		}
		rows = append(rows, []any{
			r.Tenant, r.Position, r.EventID, r.Stream, r.Version, r.Name, r.SchemaVersion,
			r.RecordedAt, r.Actor, r.Authentication, string(r.Data), commitment, r.Hash,
		})
		if r.Text != nil {
			texts = append(texts, []any{r.Tenant, r.Position, r.Salt, string(r.Text)})
		}
	}
	return errors.Join(
		copyRows(ctx, engine, tx.Tx, "events", eventColumns, rows),
		copyRows(ctx, engine, tx.Tx, "event_texts", textColumns, texts),
	)
}

func copyRows(ctx context.Context, engine database.Engine, tx *sql.Tx, table string, columns []string, rows [][]any) (err error) {
	statement := pq.CopyIn(table, columns...) //nolint:staticcheck // the driver's interface to COPY
	if engine == database.SQLite {
		statement = "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" +
			strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
	}
	copying, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copying.Close()) }()
	for _, row := range rows {
		if _, err := copying.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	if engine == database.Postgres {
		_, err = copying.ExecContext(ctx)
	}
	return err
}

// within opens everything that a server has, for as long as do runs. Whatever was retired can be swept at once.
func within(ctx context.Context, db *database.DB, logger *slog.Logger, do func(*projections.Knowledge, *events.Log, *projections.Rebuilder) error) (err error) {
	later := func() time.Time { return time.Now().Add(time.Hour) }
	base, err := projections.Open(ctx, db, projections.Settings{Logger: logger})
	if err != nil {
		return err
	}
	log := events.NewLog(db, base, events.Options{Logger: logger})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	rebuilder := projections.NewRebuilder(base, log)
	defer rebuilder.Close()
	if err := do(base, log, rebuilder); err != nil {
		return err
	}
	if err := base.Retire(ctx); err != nil {
		return err
	}
	sweeper, err := projections.Open(ctx, db, projections.Settings{Now: later})
	if err != nil {
		return err
	}
	return sweeper.Sweep(ctx)
}

// ended waits for a rebuild, and wants its version to be active.
func ended(ctx context.Context, r *projections.Rebuilder) error {
	if err := r.Wait(ctx); err != nil {
		return err
	}
	last, err := projections.Rebuilds{Rebuilder: r}.Last(ctx, "knowledge")
	if err != nil {
		return err
	}
	if last.State != "active" {
		var report domain.RebuildReport
		if last.Report != nil {
			report = *last.Report
		}
		return fmt.Errorf("version %d is %s: %s %+v", last.Version, last.State, last.Error, report)
	}
	return nil
}
