package events

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/annals-kb/annals/database"

	"github.com/annals-kb/annals/domain"
)

// itemOf is the id of the item whose stream this is.
func itemOf(stream string) string { return strings.TrimPrefix(stream, domain.KnowledgeStream("")) }

// Stream reads every event of one stream, oldest first. The error matches [ErrHole] if one is missing.
func (l *Log) Stream(ctx context.Context, tenant, stream string) ([]domain.Event, error) {
	return l.stream(ctx, l.db, tenant, stream, math.MaxInt64)
}

// At is the state of an item after so many events of its stream, or after all if it has fewer. It is
// never nil; an item that was never remembered does not exist.
func (l *Log) At(ctx context.Context, tenant, id string, version int64) (*domain.Knowledge, error) {
	events, err := l.stream(ctx, l.db, tenant, domain.KnowledgeStream(id), version)
	if err != nil {
		return nil, err
	}
	k := &domain.Knowledge{ID: id}
	for _, event := range events {
		if err := k.Evolve(event.Fact, event.Occasion(), l.options.Policy); err != nil {
			return nil, fmt.Errorf("replay %s: %w", event.Stream, err)
		}
	}
	return k, nil
}

func (l *Log) stream(ctx context.Context, db database.Querier, tenant, stream string, until int64) ([]domain.Event, error) {
	events, err := queryEvents(ctx, db, `
		SELECT `+recordColumns+`
		FROM `+recordTables+`
		WHERE e.tenant = ? AND e.stream = ? AND e.version <= ?
		ORDER BY e.version`, tenant, stream, until)
	if err != nil {
		return nil, fmt.Errorf("read stream: %w", unavailable(err))
	}
	for i, event := range events {
		if event.Version != int64(i)+1 {
			return nil, holeError{tenant: tenant, stream: stream, missing: int64(i) + 1}
		}
	}
	return events, nil
}
