package contain

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// spread is how far a source has spread. It is found out in one reading of the log, since nothing is made of what
// comes later.
type spread struct {
	view   catalogue.View
	tenant string
	from   domain.Tainting
	since  int64             // the position from which on the source counts
	items  map[string]string // why, by the ids of affected items
	events map[string]bool   // the ids of affected events
	said   map[text]bool     // what was said, and whether what said it first is affected

	absorbing map[string]string   // affected items by what superseded them
	absorbed  map[string]struct{} // items into which an extraction merged affected ones
}

// text is the hash of a content, without regard to case and space.
type text [16]byte

// leastCopied is the number of characters from which on the same content is a copy. Shorter ones are the same by
// chance.
const leastCopied = 12

func textOf(content string) (t text, long bool) {
	if len(content) < leastCopied {
		return t, false
	}
	said := strings.Join(strings.Fields(strings.ToLower(content)), " ")
	sum := sha256.Sum256([]byte(said))
	copy(t[:], sum[:])
	return t, utf8.RuneCountInString(said) >= leastCopied
}

// recorded is what of an event tells whether it is affected.
type recorded struct {
	position                 int64
	id, stream, name, actor  string
	onBehalfOf, origins      sql.NullString
	successor                sql.NullString
	source, sourceText, says sql.NullString
}

// written are the names of the facts that give an item a text.
var written = []string{domain.Remembered{}.Name(), domain.Revised{}.Name(), domain.Merged{}.Name()}

// read reads the log. If it finds that an extraction merged affected items into others, it reads it again with those.
func (s *spread) read(ctx context.Context) error {
	s.absorbed = map[string]struct{}{}
	for {
		s.items, s.events, s.said = map[string]string{}, map[string]bool{}, map[text]bool{}
		s.absorbing = map[string]string{}
		err := database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
			var e recorded
			err := row.Scan(&e.position, &e.id, &e.stream, &e.name, &e.actor, &e.onBehalfOf, &e.origins, &e.successor, &e.source,
				&e.sourceText, &e.says)
			s.take(&e)
			return err
		}, s.view.DB.NewRaw(`
			SELECT e.position, CAST(e.event_id AS text), e.stream, e.name, e.actor, e.on_behalf_of,
				CAST(e.data ->> 'derived_from' AS text), CAST(e.data ->> 'by' AS text), CAST(e.data ->> 'source' AS text),
				CAST(t.text ->> 'source' AS text), t.text ->> 'content'
			FROM events AS e
			LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
			WHERE e.tenant = ?
			ORDER BY e.position`, s.tenant).String())
		if err != nil {
			return rows.Failed(ctx, "read the log", err)
		}
		if more, err := s.absorb(ctx); err != nil || !more {
			return err
		}
	}
}

// take notes whether an event is affected.
func (s *spread) take(e *recorded) {
	id, isItem := domain.ItemOf(e.stream)
	if !isItem {
		if s.from.Source == "" && s.isOf(e) && domain.SessionStreams.Has(e.stream) {
			s.events[e.id] = true
		}
		return
	}
	if _, affected := s.items[id]; !affected {
		if why := s.why(e, id); why != "" {
			s.items[id] = why
		}
	}
	_, affected := s.items[id]
	if t, long := textOf(e.says.String); long {
		if _, known := s.said[t]; !known {
			s.said[t] = affected
		}
	}
	if !affected {
		return
	}
	s.events[e.id] = true
	if e.name == (domain.Superseded{}).Name() && e.successor.String != "" {
		s.absorbing[id] = e.successor.String
	}
}

// why tells why an event affects its item; empty if it does not.
func (s *spread) why(e *recorded, id string) string {
	if slices.Contains(s.from.Items, id) {
		return domain.WhyNamed
	}
	if _, merged := s.absorbed[id]; merged {
		return domain.WhyMerged
	}
	switch {
	case !slices.Contains(written, e.name):
		return ""
	case s.from.Selects() && s.isOf(e):
		return domain.WhyWritten
	case s.isMadeOf(e.origins.String) && e.name == domain.Merged{}.Name():
		return domain.WhyMerged
	case s.isMadeOf(e.origins.String):
		return domain.WhyDerived
	}
	if t, long := textOf(e.says.String); long && s.said[t] {
		return domain.WhyCopied
	}
	return ""
}

// isMadeOf tells whether any of the events in a list in JSON is affected.
func (s *spread) isMadeOf(list string) bool {
	var origins []string
	if list == "" || json.Unmarshal([]byte(list), &origins) != nil {
		return false // there is none
	}
	return slices.ContainsFunc(origins, func(id string) bool { return s.events[id] })
}

// isOf tells whether an event is of the source.
func (s *spread) isOf(e *recorded) bool {
	t := s.from
	if !t.Selects() || e.position < s.since ||
		t.Actor != "" && e.actor != string(t.Actor) && e.onBehalfOf.String != string(t.Actor) {
		return false
	}
	var source, text domain.Source
	_ = json.Unmarshal([]byte(e.source.String), &source) // there is none
	_ = json.Unmarshal([]byte(e.sourceText.String), &text)
	source.Name, source.URLs = text.Name, text.URLs
	stream, trace := sessionOf(t.Session)
	return (t.Source == "" || comesFrom(source, t.Source)) &&
		(t.Session == "" || e.stream == stream || source.TraceID == trace)
}

// absorb adds the items into which an extraction merged affected ones: they supersede them, and were made from the same
// messages. It tells whether there are more than before.
func (s *spread) absorb(ctx context.Context) (more bool, err error) {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(s.absorbing)), func(id string) bool {
		_, affected := s.items[s.absorbing[id]]
		return affected
	})
	for chunk := range slices.Chunk(ids, atOnce) {
		query := s.view.DB.NewSelect().TableExpr("? AS k", s.view.Tables.Knowledge).
			Join("JOIN ? AS n ON n.tenant = k.tenant AND n.id = k.superseded_by", s.view.Tables.Knowledge).
			ColumnExpr("n.id, k.derived_from, n.derived_from").
			Where("k.tenant = ?", s.tenant).Where("k.id IN (?)", bun.List(chunk)).
			Where("n.source ->> 'category' = 'exp'") // as extractions write it
		err := database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
			var id string
			var before, after []byte
			if err := row.Scan(&id, &before, &after); err != nil {
				return err
			}
			var of, by []string
			if json.Unmarshal(before, &of) == nil && json.Unmarshal(after, &by) == nil &&
				slices.ContainsFunc(of, func(id string) bool { return slices.Contains(by, id) }) {
				s.absorbed[id], more = struct{}{}, true
			}
			return nil
		}, query.String())
		if err != nil {
			return false, rows.Failed(ctx, "find what took their place", err)
		}
	}
	return more, nil
}

// sessionOf are the stream of a session, and the trace of what was written in it.
func sessionOf(session string) (stream, trace string) {
	if stream = session; session != "" && !domain.SessionStreams.Has(session) {
		stream = domain.SessionStreams.Of(strings.TrimPrefix(session, domain.User+":"))
	}
	return stream, session[strings.LastIndex(session, "/")+1:]
}

// comesFrom tells whether a source has a name, or a URL that is or begins with it.
func comesFrom(s domain.Source, name string) bool {
	return s.Name == name || slices.ContainsFunc(s.URLs, func(url string) bool {
		return url == name || strings.HasPrefix(url, strings.TrimSuffix(name, "/")+"/")
	})
}
