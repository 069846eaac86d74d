package events

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Order is an erasure order that is under way.
type Order struct {
	Tenant string
	Stream string
}

// ErasureReader reads erasure orders and their progress.
type ErasureReader struct{ log *Reader }

// UnderWay are the orders of all tenants that are not completed.
func (r ErasureReader) UnderWay(ctx context.Context) ([]Order, error) {
	var orders []Order
	err := database.ForEach(database.ForEveryTenant(ctx), r.log.db, func(rows *sql.Rows) error {
		var o Order
		err := rows.Scan(&o.Tenant, &o.Stream)
		orders = append(orders, o)
		return err
	}, `
		SELECT tenant, stream
		FROM streams
		WHERE `+OfKind("stream", domain.ErasureStreams)+` AND state ->> 'ended_at' IS NULL
		ORDER BY stream, tenant`)
	if err != nil {
		return nil, fmt.Errorf("find erasures under way: %w", Unavailable(err))
	}
	return orders, nil
}

// CountCaused counts the events with any of these names that an order caused.
func (r ErasureReader) CountCaused(
	ctx context.Context, tenant, order string, since int64, names ...string,
) (n int64, err error) {
	err = database.ForEach(ctx, r.log.db, func(rows *sql.Rows) error { return rows.Scan(&n) }, `
		SELECT count(*)
		FROM events
		WHERE tenant = ? AND position > ? AND correlation_id = ? AND name IN (?)`, tenant, since, order, bun.List(names))
	if err != nil {
		return 0, fmt.Errorf("count what an order caused: %w", Unavailable(err))
	}
	return n, nil
}

// ErasedBy tells whether the event with this id erased a stream that is not an item, or caused its erasure.
func (r ErasureReader) ErasedBy(ctx context.Context, tenant, stream, event string) (erased bool, err error) {
	err = database.ForEach(ctx, r.log.db, func(rows *sql.Rows) error { return rows.Scan(&erased) }, `
		SELECT count(*) > 0
		FROM events
		WHERE tenant = ? AND stream = ? AND name IN (?) AND (CAST(event_id AS text) = ? OR causation_id = ?)`,
		tenant, stream, bun.List([]string{domain.SessionErased{}.Name(), domain.TextsErased{}.Name()}), event, event)
	if err != nil {
		return false, fmt.Errorf("look for an erasure: %w", Unavailable(err))
	}
	return erased, nil
}

// OrderedBy is the order that an event recorded or caused. Without one, its stream is empty.
func (r ErasureReader) OrderedBy(ctx context.Context, tenant, event string) (order Order, err error) {
	order.Tenant = tenant
	err = database.ForEach(ctx, r.log.db, func(rows *sql.Rows) error { return rows.Scan(&order.Stream) }, `
		SELECT stream
		FROM events
		WHERE tenant = ? AND name = ? AND (CAST(event_id AS text) = ? OR causation_id = ?)
		ORDER BY position DESC
		LIMIT 1`, tenant, domain.ErasureOrdered{}.Name(), event, event)
	if err != nil {
		return order, fmt.Errorf("look for an order: %w", Unavailable(err))
	}
	return order, nil
}

// StreamsOf are the streams of an entity that are not items: those whose states name it as owner, and the subset that
// has texts.
func (r ErasureReader) StreamsOf(
	ctx context.Context, tenant string, owner domain.Entity,
) (all, written []domain.Stream, err error) {
	const page = 500
	byName := func(a, b domain.StreamKind) int { return strings.Compare(a.Name, b.Name) }
	for _, kind := range slices.SortedFunc(slices.Values(domain.StreamKinds), byName) {
		if _, belongs := kind.State.(domain.OwnedState); !belongs {
			continue
		}
		for after := ""; ; {
			some, err := r.log.States(ctx, tenant, kind.Of(""), after, page)
			if err != nil {
				return nil, nil, err
			}
			var owned []domain.Stream
			for _, s := range some {
				after = s.Name
				if b, is := s.State.(domain.OwnedState); is && b.StateOwner() == owner {
					owned = append(owned, s)
				}
			}
			all = append(all, owned...)
			if owned, err = r.WithTexts(ctx, tenant, owned); err != nil {
				return nil, nil, err
			}
			if written = append(written, owned...); len(some) < page {
				break
			}
		}
	}
	return all, written, nil
}

// WithTexts are those of the streams that still have texts.
func (r ErasureReader) WithTexts(
	ctx context.Context, tenant string, streams []domain.Stream,
) ([]domain.Stream, error) {
	if len(streams) == 0 {
		return nil, nil
	}
	names := make([]string, len(streams))
	for i, s := range streams {
		names[i] = s.Name
	}
	there := map[string]bool{}
	err := database.ForEach(ctx, r.log.db, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		there[name] = true
		return err
	}, `
		SELECT DISTINCT e.stream
		FROM events AS e
		JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
		WHERE e.tenant = ? AND e.stream IN (?)`, tenant, bun.List(names))
	if err != nil {
		return nil, fmt.Errorf("find texts: %w", Unavailable(err))
	}
	return slices.DeleteFunc(slices.Clone(streams), func(s domain.Stream) bool { return !there[s.Name] }), nil
}

// StreamsWithText are the streams of a tenant that are not items and still have texts.
func (r ErasureReader) StreamsWithText(ctx context.Context, tenant string) ([]domain.Stream, error) {
	var names []string
	err := database.ForEach(ctx, r.log.db, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, `
		SELECT DISTINCT e.stream
		FROM event_texts AS t
		JOIN events AS e ON e.tenant = t.tenant AND e.position = t.position
		WHERE t.tenant = ? AND NOT (`+OfKind("e.stream", domain.KnowledgeStreams)+`)
		ORDER BY e.stream`, tenant)
	if err != nil {
		return nil, fmt.Errorf("find texts: %w", Unavailable(err))
	}
	streams := make([]domain.Stream, len(names))
	for i, name := range names {
		if streams[i], err = r.log.State(ctx, tenant, name); err != nil {
			return nil, err
		}
	}
	return streams, nil
}
