package events

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/codec"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Facts reads the facts at positions of a tenant's log, with the texts that still exist. The error matches [ErrHole] if
// there is no such position.
func (at Snapshot) Facts(ctx context.Context, tenant string, positions []int64) (map[int64]domain.Fact, error) {
	positions = slices.Compact(slices.Sorted(slices.Values(positions)))
	facts := make(map[int64]domain.Fact, len(positions))
	for batch := range slices.Chunk(positions, PageSize) {
		var found []RecordedFact
		err := database.ForEach(ctx, at.db, func(rows *sql.Rows) error {
			var f RecordedFact
			err := rows.Scan(&f.Position, &f.Name, &f.SchemaVersion, &f.Data, &f.Text)
			found = append(found, f)
			return err
		}, `
			SELECT `+FactColumns+`
			FROM `+recordTables+`
			WHERE e.tenant = ? AND e.position IN (?)
			ORDER BY e.position`, tenant, bun.List(batch))
		if err == nil {
			err = decodeFacts(facts, found)
		}
		if err != nil {
			return nil, fmt.Errorf("read facts: %w", Unavailable(err))
		}
		if err := complete(facts, tenant, batch); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// RecordedFact is a stored fact, with the text that still exists.
type RecordedFact struct {
	Position      int64  `bun:"fact_position"`
	Name          string `bun:"fact_name"`
	SchemaVersion int    `bun:"fact_version"`
	Data          []byte `bun:"fact_data"`
	Text          []byte `bun:"fact_text"`
}

// FactColumns are the columns of a [RecordedFact], from events as e and a left join of event_texts as t.
const FactColumns = `
	e.position AS fact_position, e.name AS fact_name, e.schema_version AS fact_version, e.data AS fact_data,
	` + currentText + ` AS fact_text`

// FactsOf decodes the facts that a query found, by position. The error matches [ErrHole] if one of the positions is
// missing.
func FactsOf(tenant string, found []RecordedFact, positions []int64) (map[int64]domain.Fact, error) {
	facts := make(map[int64]domain.Fact, len(found))
	if err := decodeFacts(facts, found); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return facts, complete(facts, tenant, positions)
}

func decodeFacts(facts map[int64]domain.Fact, found []RecordedFact) (err error) {
	for _, f := range found {
		p := codec.Payload{Name: f.Name, SchemaVersion: f.SchemaVersion, Data: f.Data, Text: f.Text}
		if facts[f.Position], err = codec.Decode(p); err != nil {
			return err
		}
	}
	return nil
}

// complete reports a position without a fact.
func complete(facts map[int64]domain.Fact, tenant string, positions []int64) error {
	for _, position := range positions {
		if facts[position] == nil {
			return holeError{tenant: tenant, missing: position}
		}
	}
	return nil
}

// Beginnings are the positions of the first events of streams. Streams without events are left out.
func (l *Reader) Beginnings(ctx context.Context, tenant string, streams []string) (map[string]int64, error) {
	found := make(map[string]int64, len(streams))
	for batch := range slices.Chunk(streams, PageSize) {
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
			return nil, fmt.Errorf("find where streams began: %w", Unavailable(err))
		}
	}
	return found, nil
}
