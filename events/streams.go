package events

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// streams are the states of the streams of a batch other than knowledge, from their reading to their writing. The
// table streams stores them, so that the cost of an append does not depend on the length of its stream. The table is
// only a cache: a row that is missing, behind its stream, or in the form of another release is computed again from
// the events.
type streams struct {
	engine database.Engine
	tenant string
	tx     database.Querier
	ctx    context.Context // Stream has no context parameter; streams ends with its transaction

	names   []string // streams that were read, in order
	stale   []string // those of them without a usable row
	known   map[string]*domain.Stream
	changed map[string]bool
	failed  error // of a look-up that Stream could not return
}

// newStreams names the streams that commands are about or look up.
func newStreams(engine database.Engine, tenant string, commands []domain.Command) *streams {
	s := &streams{engine: engine, tenant: tenant, known: map[string]*domain.Stream{}, changed: map[string]bool{}}
	for _, command := range commands {
		s.want(command.Stream())
		for _, other := range command.Reads().Streams {
			s.want(other)
		}
	}
	return s
}

func (s *streams) want(stream string) {
	if _, isItem := domain.ItemOf(stream); isItem || s.known[stream] != nil {
		return
	}
	s.known[stream] = &domain.Stream{Name: stream, State: kindOfStream(stream).State}
	s.names = append(s.names, stream)
}

// statesQuery looks up each stream in the primary key's index, and its newest version in the index of events.
func statesQuery(engine database.Engine, tenant string, names []string) (query string, args []any) {
	if engine == database.SQLite {
		return `
			SELECT
				w.value, s.version, s.position, s.form, s.state,
				(SELECT version FROM events WHERE tenant = ? AND stream = w.value ORDER BY version DESC LIMIT 1)
			FROM json_each(?) AS w
			LEFT JOIN streams AS s ON s.tenant = ? AND s.stream = w.value`,
			[]any{tenant, database.List(names), tenant}
	}
	return `
		SELECT
			w.stream, s.version, s.position, s.form, s.state,
			(SELECT version FROM events WHERE tenant = ? AND stream = w.stream ORDER BY version DESC LIMIT 1)
		FROM json_array_elements_text(?::json) AS w (stream)
		LEFT JOIN LATERAL (
			SELECT *
			FROM streams
			WHERE tenant = ? AND stream = w.stream
			LIMIT 1
		) AS s ON TRUE`, []any{tenant, database.List(names), tenant}
}

// scan takes a row if it is usable.
func (s *streams) scan(rows *sql.Rows) error {
	var name string
	var version, position, form, newest sql.NullInt64
	var state []byte
	if err := rows.Scan(&name, &version, &position, &form, &state, &newest); err != nil {
		return err
	}
	if newest.Int64 > 0 {
		s.take(name, storedState{version.Int64, position.Int64, int(form.Int64), state}, newest.Int64)
	}
	return nil
}

// take takes a row if it is usable: in the current form, and at the newest version.
func (s *streams) take(name string, row storedState, newest int64) {
	kind := kindOfStream(name)
	if row.version == newest && row.form == kind.Form {
		if state, err := codec.State(kind, row.state); err == nil {
			*s.known[name] = domain.Stream{Name: name, Version: row.version, Position: row.position, State: state}
			return
		}
	}
	s.stale = append(s.stale, name)
}

// refresh computes the states without a usable row. It does nothing if there are none.
func (s *streams) refresh(ctx context.Context, tx database.Querier) error {
	s.ctx, s.tx = ctx, tx
	for _, name := range s.stale {
		stream, err := foldStream(ctx, tx, s.tenant, name, 0)
		if err != nil {
			return err
		}
		s.known[name] = &stream
	}
	return nil
}

func (s *streams) Stream(name string) domain.Stream {
	if s.known[name] == nil && s.failed == nil {
		s.failed = s.lookUp(name)
	}
	if known := s.known[name]; known != nil {
		return *known
	}
	return domain.Stream{Name: name}
}

func (s *streams) lookUp(name string) error {
	if s.want(name); s.known[name] == nil {
		return fmt.Errorf("%s is looked up as an item", name)
	}
	if err := s.read(s.ctx, s.tx, []string{name}); err != nil {
		return fmt.Errorf("look up %s: %w", name, err)
	}
	return nil
}

// read reads the states of wanted streams.
func (s *streams) read(ctx context.Context, tx database.Querier, names []string) error {
	if len(names) == 0 {
		return nil
	}
	s.stale = nil
	query, args := statesQuery(s.engine, s.tenant, names)
	if err := database.ForEach(ctx, tx, s.scan, query, args...); err != nil {
		return err
	}
	return s.refresh(ctx, tx)
}

// apply folds an event of the batch, without its text, as in every later reading.
func (s *streams) apply(event domain.Event) error {
	p := codec.Payload{Name: event.Name, SchemaVersion: event.SchemaVersion, Data: event.Data}
	plain, err := codec.Decode(p)
	if err != nil {
		return err
	}
	s.changed[event.Stream] = true
	return s.known[event.Stream].Evolve(plain, event.Metadata())
}

// foldStream computes the state of a stream from its events, without their texts, up to a version; 0 for all.
func foldStream(ctx context.Context, db database.Querier, tenant, name string, upTo int64) (domain.Stream, error) {
	stream := domain.Stream{Name: name, State: kindOfStream(name).State}
	for event, err := range plainEvents(ctx, db, tenant, name, upTo) {
		if err == nil {
			err = stream.Evolve(event.Fact, event.Metadata())
		}
		if err != nil {
			return stream, fmt.Errorf("fold %s of tenant %s: %w", name, tenant, err)
		}
	}
	return stream, nil
}
