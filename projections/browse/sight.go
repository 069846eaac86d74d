package browse

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Hide takes out the references to items and events that a reader may not see. It asks nothing of the database if
// there are no references.
func (b *Browser) Hide(ctx context.Context, reader domain.Principal, all ...domain.Referrer) error {
	if reader.SeesAll() {
		return nil
	}
	var items, events []string
	seen := rows.Set{}
	note := func(list *[]string) func(string) bool {
		return func(id string) bool {
			seen.Add(list, id)
			return true
		}
	}
	for _, one := range all {
		one.HideReferences(domain.Sight{Item: note(&items), Event: note(&events), Origin: note(&events)})
	}
	if len(seen) == 0 {
		return nil
	}
	known := rows.Set{}
	if err := b.inSight(ctx, reader, items, events, known); err != nil {
		return rows.Failed(ctx, "look references up", err)
	}
	has := func(id string) bool { return known[id] }
	open := func(id string) bool {
		may, recorded := known[id]
		return may || !recorded
	}
	for _, one := range all {
		one.HideReferences(domain.Sight{Item: has, Event: has, Origin: open})
	}
	return nil
}

// inSight adds those of some items and events to known that a reader may see.
func (b *Browser) inSight(
	ctx context.Context, reader domain.Principal, items, events []string, known rows.Set,
) error {
	p, err := b.view(ctx)
	if err != nil {
		return err
	}
	var recorded []struct{ EventID, Stream string }
	events = slices.DeleteFunc(events, func(id string) bool { // no event can have it
		parsed, err := uuid.Parse(id)
		return err != nil || parsed.String() != id
	})
	if len(events) > 0 {
		err = p.DB.NewSelect().TableExpr("events AS e").ColumnExpr("e.event_id, e.stream").
			Where("e.tenant = ?", reader.Tenant).Where("e.event_id IN (?)", bun.List(events)).Scan(ctx, &recorded)
	}
	for _, e := range recorded {
		if id, is := domain.ItemOf(e.Stream); is {
			items = append(items, id)
		}
	}
	if err != nil || len(items)+len(recorded) == 0 {
		return err
	}
	if len(items) > 0 {
		query := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).
			ColumnExpr("k.id, k.owner, k.scopes, k.status, k.baseline").
			Where("k.tenant = ?", reader.Tenant).Where("k.id IN (?)", bun.List(items))
		err = rows.ScanEach(ctx, p.DB.DB, query, func(r *rows.Row, unreadable error) {
			r.Version = 1
			known[r.ID] = unreadable == nil && reader.MaySee(&r.Knowledge)
		})
	}
	for _, e := range recorded {
		if id, is := domain.ItemOf(e.Stream); is {
			known[e.EventID] = known[id]
		} else {
			known[e.EventID] = reader.MaySeeSession(e.Stream)
		}
	}
	return err
}
