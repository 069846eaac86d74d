package contain

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// item is an affected item.
type item struct {
	number int64
	id     string
	since  int64 // the position from which on it is affected
	why    string
}

// spread is how far a source has spread, while it is found out. It follows items forwards in the log until nothing is
// new.
type spread struct {
	view   catalogue.View
	tenant string
	items  map[string]*item
	events map[string]int64 // the ids of affected events, with their positions
	texts  map[text]int64   // what affected items have said, with the least number of an item that said it
	fresh  bool             // texts has new ones
}

// text is the hash of a content, without regard to case and space.
type text [16]byte

// atOnce limits the values of one statement.
const atOnce = 500

// leastCopied is the number of characters from which on the same content is a copy. Shorter ones are the same by
// chance.
const leastCopied = 12

func textOf(content string) (t text, long bool) {
	said := strings.Join(strings.Fields(strings.ToLower(content)), " ")
	sum := sha256.Sum256([]byte(said))
	copy(t[:], sum[:])
	return t, utf8.RuneCountInString(said) >= leastCopied
}

// add adds an item, or lets it be affected earlier.
func (s *spread) add(i item) (added *item) {
	if known := s.items[i.id]; known != nil {
		known.since = min(known.since, i.since)
		return nil
	}
	s.items[i.id] = &i
	return &i
}

// follow adds what was made of some affected items, and of that, and so on.
func (s *spread) follow(ctx context.Context, frontier []*item) error {
	for first := true; first || len(frontier) > 0; first = false {
		if err := s.noteEvents(ctx, frontier); err != nil {
			return err
		}
		next, err := s.derived(ctx)
		if err != nil {
			return err
		}
		absorbed, err := s.absorbed(ctx, frontier)
		if err != nil {
			return err
		}
		copies, err := s.copies(ctx)
		if err != nil {
			return err
		}
		frontier = slices.Concat(next, absorbed, copies)
	}
	return nil
}

// noteEvents notes the events of affected items, and what these said.
func (s *spread) noteEvents(ctx context.Context, items []*item) error {
	for chunk := range slices.Chunk(items, atOnce) {
		streams, of := make([]string, len(chunk)), map[string]*item{}
		for n, i := range chunk {
			streams[n] = domain.KnowledgeStream(i.id)
			of[streams[n]] = i
		}
		err := database.ForEach(ctx, s.view.DB, func(found *sql.Rows) error {
			var id, stream string
			var position int64
			var content sql.NullString
			if err := found.Scan(&id, &stream, &position, &content); err != nil {
				return err
			}
			i := of[stream]
			if position < i.since {
				return nil
			}
			s.events[id] = position
			if t, long := textOf(content.String); long {
				if least, known := s.texts[t]; !known || i.number < least {
					s.texts[t], s.fresh = i.number, true
				}
			}
			return nil
		}, s.view.DB.NewRaw(`
			SELECT CAST(e.event_id AS text), e.stream, e.position, t.text ->> 'content'
			FROM events AS e
			LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
			WHERE e.tenant = ? AND e.stream IN (?)`, s.tenant, bun.List(streams)).String())
		if err != nil {
			return rows.Failed(ctx, "read the events of affected items", err)
		}
	}
	return nil
}

// derived finds the items that were made from affected events.
func (s *spread) derived(ctx context.Context) (found []*item, err error) {
	if len(s.events) == 0 {
		return nil, nil
	}
	made := "k.derived_from <> '[]'"
	if s.view.IsPostgres() {
		made = "json_array_length(k.derived_from) > 0"
	}
	query := s.view.DB.NewSelect().TableExpr("?", s.view.IndexHint("derived")).
		ColumnExpr("k.number, k.id, k.derived_from").Where("k.tenant = ?", s.tenant).Where(made)
	err = database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
		var i item
		var from []byte
		if err := row.Scan(&i.number, &i.id, &from); err != nil {
			return err
		}
		if s.items[i.id] != nil {
			return nil
		}
		var origins []string
		if json.Unmarshal(from, &origins) != nil {
			return nil // the row is damaged: annals doctor says so
		}
		for _, origin := range origins {
			if position, affected := s.events[origin]; affected && (i.since == 0 || position < i.since) {
				i.since = position
			}
		}
		if i.since == 0 {
			return nil
		}
		if i.why = domain.WhyDerived; i.number < i.since {
			i.why = domain.WhyMerged
		}
		i.since = max(i.since, i.number)
		found = append(found, s.add(i))
		return nil
	}, query.String())
	if err != nil {
		return nil, rows.Failed(ctx, "follow the lineage", err)
	}
	return found, nil
}

// absorbed finds the items into which an extraction merged affected ones: they supersede them, and were made from the
// same messages.
func (s *spread) absorbed(ctx context.Context, items []*item) (found []*item, err error) {
	for chunk := range slices.Chunk(items, atOnce) {
		ids := make([]string, len(chunk))
		for n, i := range chunk {
			ids[n] = i.id
		}
		query := s.view.DB.NewSelect().TableExpr("? AS k", s.view.Tables.Knowledge).
			Join("JOIN ? AS n ON n.tenant = k.tenant AND n.id = k.superseded_by", s.view.Tables.Knowledge).
			ColumnExpr("n.number, n.id, k.derived_from, n.derived_from").
			Where("k.tenant = ?", s.tenant).Where("k.id IN (?)", bun.List(ids)).Where("k.superseded_by <> ''")
		err := database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
			var i item
			var before, after []byte
			if err := row.Scan(&i.number, &i.id, &before, &after); err != nil {
				return err
			}
			var of, by []string
			if json.Unmarshal(before, &of) != nil || json.Unmarshal(after, &by) != nil || s.items[i.id] != nil ||
				!slices.ContainsFunc(of, func(id string) bool { return slices.Contains(by, id) }) {
				return nil
			}
			i.since, i.why = i.number, domain.WhyMerged
			found = append(found, s.add(i))
			return nil
		}, query.String())
		if err != nil {
			return nil, rows.Failed(ctx, "find what took their place", err)
		}
	}
	return found, nil
}

// copies finds the items that say what an affected item said before.
func (s *spread) copies(ctx context.Context) (found []*item, err error) {
	if !s.fresh {
		return nil, nil
	}
	s.fresh = false
	query := s.view.DB.NewSelect().TableExpr("? AS k", s.view.Tables.Knowledge).ColumnExpr("k.number, k.id, k.content").
		Where("k.tenant = ?", s.tenant).Where("k.content <> ''")
	err = database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
		var i item
		var content string
		if err := row.Scan(&i.number, &i.id, &content); err != nil {
			return err
		}
		if s.items[i.id] != nil {
			return nil
		}
		t, long := textOf(content)
		if least, known := s.texts[t]; long && known && least < i.number {
			i.since, i.why = i.number, domain.WhyCopied
			found = append(found, s.add(i))
		}
		return nil
	}, query.String())
	if err != nil {
		return nil, rows.Failed(ctx, "find copies", err)
	}
	return found, nil
}
