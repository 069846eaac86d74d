package contain

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// written are the names of the facts that give an item a text.
var written = []string{domain.Remembered{}.Name(), domain.Revised{}.Name(), domain.Merged{}.Name()}

// begin adds what a containment begins with. Items that were named must be in view; the caller decides who may see
// them.
func (s *spread) begin(ctx context.Context, t domain.Tainting) (first []*item, err error) {
	from := int64(0)
	if !t.Since.IsZero() {
		if from, _, err = events.Since(ctx, s.view.DB, s.tenant, t.Since); err != nil {
			return nil, err
		}
	}
	if len(t.Items) > 0 {
		err = s.choose(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("k.id IN (?)", bun.List(t.Items)) },
			func(i item, _ domain.Source) {
				i.why = domain.WhyNamed
				first = append(first, s.add(i))
			})
	}
	if err != nil || !t.Selects() {
		return first, err
	}
	wrote, err := s.writtenBy(ctx, t, from)
	if err != nil {
		return nil, err
	}
	return append(first, wrote...), nil
}

// choose reads items with their sources.
func (s *spread) choose(
	ctx context.Context, where func(*bun.SelectQuery) *bun.SelectQuery, each func(item, domain.Source),
) error {
	query := where(s.view.DB.NewSelect().TableExpr("? AS k", s.view.Tables.Knowledge).
		ColumnExpr("k.number, k.id, k.source").Where("k.tenant = ?", s.tenant).Where("k.status <> ?", domain.IsErased))
	err := database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
		var i item
		var source []byte
		var of domain.Source
		if err := row.Scan(&i.number, &i.id, &source); err != nil {
			return err
		}
		_ = json.Unmarshal(source, &of) // a damaged row has none
		i.since = i.number
		each(i, of)
		return nil
	}, query.String())
	if err != nil {
		return rows.Failed(ctx, "read items", err)
	}
	return nil
}

// writtenBy finds the items and the messages of a session that the source wrote.
func (s *spread) writtenBy(ctx context.Context, t domain.Tainting, from int64) (found []*item, err error) {
	stream, trace := sessionOf(t.Session)
	since := map[string]int64{} // by the ids of items
	if t.Actor != "" || t.Session != "" {
		query := s.view.DB.NewSelect().TableExpr("events AS e").
			ColumnExpr("CAST(e.event_id AS text), e.stream, e.name, e.position").
			Where("e.tenant = ?", s.tenant).Where("e.position >= ?", from).OrderExpr("e.position")
		if t.Actor != "" {
			query = query.Where("(e.actor = ? OR e.on_behalf_of = ?)", t.Actor, t.Actor)
		} else {
			query = query.Where("e.stream = ?", stream)
		}
		err = database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
			var id, of, name string
			var position int64
			if err := row.Scan(&id, &of, &name, &position); err != nil {
				return err
			}
			about, isItem := domain.ItemOf(of)
			switch {
			case isItem && slices.Contains(written, name) && since[about] == 0:
				since[about] = position
			case domain.SessionStreams.Has(of) && t.Source == "" && (t.Session == "" || of == stream):
				s.events[id] = position
			}
			return nil
		}, query.String())
		if err != nil {
			return nil, rows.Failed(ctx, "read what it wrote", err)
		}
	}
	err = s.choose(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("k.position >= ?", from) },
		func(i item, of domain.Source) {
			position, wrote := since[i.id]
			if t.Actor != "" && !wrote || t.Source != "" && !comesFrom(of, t.Source) ||
				t.Session != "" && of.TraceID != trace || t.Actor == "" && i.number < from {
				return
			}
			if i.why = domain.WhyWritten; wrote {
				i.since = position
			}
			if added := s.add(i); added != nil {
				found = append(found, added)
			}
		})
	return found, err
}

// sessionOf are the stream of a session, and the trace of what was written in it.
func sessionOf(session string) (stream, trace string) {
	if stream = session; session != "" && !domain.SessionStreams.Has(session) {
		stream = domain.SessionStreams.Of(session)
	}
	return stream, session[strings.LastIndex(session, "/")+1:]
}

// comesFrom tells whether a source has a name, or a URL that is or begins with it.
func comesFrom(s domain.Source, name string) bool {
	return s.Name == name || slices.ContainsFunc(s.URLs, func(url string) bool {
		return url == name || strings.HasPrefix(url, strings.TrimSuffix(name, "/")+"/")
	})
}
