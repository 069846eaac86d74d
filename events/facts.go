package events

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/database"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Facts reads what was recorded at positions of a tenant's log, with the texts that still exist.
func (l *Log) Facts(ctx context.Context, tenant string, positions []int64) (map[int64]domain.Fact, error) {
	return Snapshot{l.db}.Facts(ctx, tenant, positions)
}

// Facts is [Log.Facts] at the snapshot's moment. The error matches [ErrHole] if there is no such position.
func (at Snapshot) Facts(ctx context.Context, tenant string, positions []int64) (map[int64]domain.Fact, error) {
	positions = slices.Compact(slices.Sorted(slices.Values(positions)))
	facts := make(map[int64]domain.Fact, len(positions))
	for batch := range slices.Chunk(positions, pageSize) {
		err := database.ForEach(ctx, at.db, func(rows *sql.Rows) error {
			var position int64
			var p Payload
			var data, text []byte
			err := rows.Scan(&position, &p.Name, &p.SchemaVersion, &data, &text)
			if err != nil {
				return err
			}
			p.Data, p.Text = data, text
			facts[position], err = Decode(p)
			return err
		}, `
			SELECT e.position, e.name, e.schema_version, e.data, `+said+`
			FROM `+recordTables+`
			WHERE e.tenant = ? AND e.position IN (?)
			ORDER BY e.position`, tenant, bun.List(batch))
		if err != nil {
			return nil, fmt.Errorf("read facts: %w", unavailable(err))
		}
		for _, position := range batch {
			if facts[position] == nil {
				return nil, holeError{tenant: tenant, missing: position}
			}
		}
	}
	return facts, nil
}

// Beginnings are the positions at which streams of a tenant began; those that never did are left out.
func (l *Log) Beginnings(ctx context.Context, tenant string, streams []string) (map[string]int64, error) {
	found := make(map[string]int64, len(streams))
	for batch := range slices.Chunk(streams, pageSize) {
		err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
			var stream string
			var position int64
			err := rows.Scan(&stream, &position)
			found[stream] = position
			return err
		}, `
			SELECT stream, position
			FROM events
			WHERE tenant = ? AND stream IN (?) AND version = 1
			ORDER BY stream`, tenant, bun.List(batch))
		if err != nil {
			return nil, fmt.Errorf("find where streams began: %w", unavailable(err))
		}
	}
	return found, nil
}

// NamesOf are the names of the facts that events of a tenant record, by the events' ids.
func (l *Log) NamesOf(ctx context.Context, tenant string, ids []string) (map[string]string, error) {
	found := make(map[string]string, len(ids))
	for batch := range slices.Chunk(ids, pageSize) {
		err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
			var id, name string
			err := rows.Scan(&id, &name)
			found[id] = name
			return err
		}, `
			SELECT event_id, name
			FROM events
			WHERE tenant = ? AND event_id IN (?)
			ORDER BY event_id`, tenant, bun.List(batch))
		if err != nil {
			return nil, fmt.Errorf("find events: %w", unavailable(err))
		}
	}
	return found, nil
}
