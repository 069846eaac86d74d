package events

import (
	"context"
	"fmt"
	"time"

	"github.com/annals-kb/annals/domain"
)

// AheadOfClock is how long after now, by this process's clock, the event at a position was recorded; 0 if it was before.
func (l *Log) AheadOfClock(ctx context.Context, tenant string, position int64) (time.Duration, error) {
	at, err := l.recordedAt(ctx, tenant, position)
	return max(0, at.Sub(l.options.Clock())), err
}

// Resolve is the position of a tenant's log at a moment of the past, and its time. The error matches
// [domain.ErrInvalid] if that lies in the future, or before the log began.
func (l *Log) Resolve(ctx context.Context, tenant string, at domain.AsOf) (domain.AsOf, error) {
	head, _, err := l.Head(ctx, tenant)
	if err != nil {
		return at, err
	}
	refused := func(format string, values ...any) (domain.AsOf, error) {
		var p domain.Problems
		p.Add("as_of", format, values...)
		return at, p.Err()
	}
	switch {
	case head == 0:
		return refused("lies before the beginning: nothing is recorded yet")
	case at.Position > head:
		return refused("lies in the future: the log ends at position %d", head)
	case at.Position > 0:
		at.Time, err = l.recordedAt(ctx, tenant, at.Position)
		return at, err
	}
	if at.Time.After(l.options.Clock()) {
		newest, err := l.recordedAt(ctx, tenant, head) // ahead of a clock that was set back
		if err != nil {
			return at, err
		}
		if at.Time.After(newest) {
			return refused("lies in the future")
		}
	}
	if at.Position, err = l.PositionAt(ctx, tenant, at.Time); err != nil || at.Position > 0 {
		return at, err
	}
	began, err := l.recordedAt(ctx, tenant, 1)
	if err != nil {
		return at, err
	}
	return refused("lies before the beginning: the log begins at %s", began.Format(time.RFC3339Nano))
}

// AsOf is what an item was at a position of the log, with all of its votes and reports, by a confidence
// policy. It is never nil; an item that was not yet remembered does not exist.
func (l *Log) AsOf(ctx context.Context, tenant, id string, position int64, policy domain.ConfidencePolicy) (*domain.Knowledge, error) {
	k := &domain.Knowledge{ID: id}
	// Added to, a position leads to no index: it is the stream that should.
	events, err := queryEvents(ctx, l.db, `
		SELECT `+recordColumns+`
		FROM `+recordTables+`
		WHERE e.tenant = ? AND e.stream = ? AND e.position + 0 <= ?
		ORDER BY e.version`, tenant, domain.KnowledgeStream(id), position)
	if err != nil {
		return nil, fmt.Errorf("read stream: %w", unavailable(err))
	}
	for _, event := range events {
		if err := k.Evolve(event.Fact, event.Metadata(), policy); err != nil {
			return nil, fmt.Errorf("replay %s: %w", event.Stream, err)
		}
	}
	return k, nil
}
