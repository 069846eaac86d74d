package events

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Selection knows the owners and scopes of the items that events are about.
type Selection interface {
	// Streams are the streams of the items that a query selects. many is true if there are more than most.
	Streams(ctx context.Context, q domain.EventQuery, most int) (streams []string, many bool, err error)
	// Condition is an SQL condition on an event in a table e that the query selects it.
	Condition(q domain.EventQuery) (where string, args []any)
}

// chosen says which events of a span a query selects.
type chosen struct {
	parts []string
	args  []any
	whole bool // an index leads to them, so a page covers the whole span
	none  bool // there are none
}

func (c *chosen) add(part string, args ...any) {
	c.parts, c.args = append(c.parts, part), append(c.args, args...)
}

// everything tells whether the query selects all of a tenant's events.
func (c *chosen) everything() bool { return len(c.parts) == 1 }

// fewStreams is the number of streams up to which their index is used, instead of scanning positions.
const fewStreams = 1000

// choose derives the conditions of a query within a span.
func (f Finder) choose(ctx context.Context, q domain.EventQuery, within span) (*chosen, error) {
	c := &chosen{}
	c.add("e.tenant = ?", q.Tenant)
	if q.Stream != "" {
		c.add("e.stream = ?", q.Stream)
		c.whole = true
	}
	if q.EventID != "" {
		if id, err := uuid.Parse(q.EventID); err != nil || id.String() != q.EventID {
			c.none = true
			return c, nil
		}
		c.add("e.event_id = ?", q.EventID)
		c.whole = true
	}
	if err := f.chooseItems(ctx, q, within, c); err != nil || c.none {
		return c, err
	}
	if q.Actor != "" {
		c.add("(e.actor = ? OR e.on_behalf_of = ?)", q.Actor, q.Actor)
	}
	for column, value := range map[string]string{
		"e.on_behalf_of": string(q.OnBehalfOf), "e.request_id": q.RequestID, "e.correlation_id": q.CorrelationID,
		"e.causation_id": q.CausationID,
	} {
		if value != "" {
			c.add(column+" = ?", value)
		}
	}
	if len(q.Names) > 0 {
		c.add("e.name IN (?)", bun.List(q.Names))
	}
	if q.TraceID != "" {
		c.add("(substr(e.traceparent, 4, 32) = ? OR e.data ->> 'trace_id' = ? OR (e.data -> 'source') ->> 'trace_id' = ?)",
			q.TraceID, q.TraceID, q.TraceID)
	}
	if !q.OccurredFrom.IsZero() {
		c.add("e.occurred_at >= ?", database.At(q.OccurredFrom))
	}
	if !q.OccurredTo.IsZero() {
		c.add("e.occurred_at < ?", database.At(q.OccurredTo))
	}
	return c, nil
}

// chooseItems restricts the events to those of certain items. If the items are few in a long log, it uses the index
// of streams; otherwise it checks the item of each event.
func (f Finder) chooseItems(ctx context.Context, q domain.EventQuery, within span, c *chosen) error {
	if !q.AboutItems() {
		return nil
	}
	selection := f.log.options.Selection
	if selection == nil {
		c.none = true
		return nil
	}
	if !c.whole && within.length() > scanLimit {
		streams, many, err := selection.Streams(ctx, q, fewStreams)
		switch {
		case err != nil:
			return err
		case len(streams) == 0:
			c.none = true
			return nil
		case !many:
			c.add("e.stream IN (?)", bun.List(streams))
			c.whole = true
		}
		if !many && q.Scope == "" && q.Owner == "" {
			return nil // all events of the items count, also those from before they had this owner
		}
	}
	where, args := selection.Condition(q)
	c.add(where, args...)
	return nil
}

// where is the condition, including the positions of a page.
func (c *chosen) where(page span) (condition string, args []any) {
	positions := "e.position BETWEEN ? AND ?"
	if c.whole { // the index of streams leads to them, not the index of positions
		positions = "e.position + 0 BETWEEN ? AND ?"
	}
	return strings.Join(append(slices.Clip(c.parts), positions), " AND "),
		append(slices.Clip(c.args), page.from, page.to)
}
