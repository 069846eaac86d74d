package events

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// State is the current state of a stream that is not about knowledge. Its cost does not depend on the length of the
// stream.
func (l *Reader) State(ctx context.Context, tenant, stream string) (domain.Stream, error) {
	return readState(ctx, l.db, l.db.Engine, tenant, stream)
}

func readState(
	ctx context.Context, db database.Querier, engine database.Engine, tenant, stream string,
) (domain.Stream, error) {
	s := newStreams(engine, tenant, nil)
	s.ctx, s.tx = ctx, db
	found := s.Stream(stream)
	if s.failed != nil {
		return found, fmt.Errorf("read state: %w", Unavailable(s.failed))
	}
	return found, nil
}

// StateAnywhere finds a stream by name in any tenant's log, with one look-up. where is the condition of the index of
// such streams. The tenant is empty unless exactly one has such a stream.
func (l *Reader) StateAnywhere(
	ctx context.Context, stream, where string,
) (tenant string, found domain.Stream, err error) {
	tenants := 0
	err = l.EachState(ctx, where+" AND stream = ?", func(name string, s domain.Stream) {
		tenants++
		tenant, found = name, s
	}, stream)
	if err != nil || tenants != 1 {
		return "", domain.Stream{}, err
	}
	return tenant, found, nil
}

// EachState visits the streams of all tenants that fulfil a condition that an index has. It takes one query, and one
// more for each stream whose state another release stored in another form.
func (l *Reader) EachState(
	ctx context.Context, where string, each func(tenant string, s domain.Stream), args ...any,
) error {
	ctx = database.ForEveryTenant(ctx)
	var tenants []string
	var states []*streams
	err := database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var tenant, stream string
		var of storedState
		var newest int64
		if err := rows.Scan(&tenant, &stream, &of.version, &of.position, &of.form, &of.state, &newest); err != nil {
			return err
		}
		s := newStreams(l.db.Engine, tenant, nil)
		s.want(stream)
		s.take(stream, of, newest)
		tenants, states = append(tenants, tenant), append(states, s)
		return nil
	}, `
		SELECT
			tenant, stream, version, position, form, state,
			(SELECT version FROM events WHERE tenant = s.tenant AND stream = s.stream ORDER BY version DESC LIMIT 1)
		FROM streams AS s
		WHERE `+where, args...)
	for i := 0; err == nil && i < len(states); i++ {
		if err = states[i].refresh(ctx, l.db); err == nil {
			each(tenants[i], states[i].Stream(states[i].names[0]))
		}
	}
	if err != nil {
		return fmt.Errorf("find streams: %w", Unavailable(err))
	}
	return nil
}

// States lists up to limit streams of a kind ("key:") after a stream, in the order of their names.
func (l *Reader) States(ctx context.Context, tenant, kind, after string, limit int) ([]domain.Stream, error) {
	slice, _, err := l.Snapshot.NextSlice(ctx, tenant, kind, after, limit)
	if err != nil {
		return nil, err
	}
	s := newStreams(l.db.Engine, tenant, nil)
	err = database.ForEach(ctx, l.db, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		s.want(name)
		return err
	}, `
		SELECT stream
		FROM events
		WHERE tenant = ? AND stream > ? AND stream <= ? AND version = 1
		ORDER BY stream`, tenant, slice.After, slice.Through)
	if err == nil {
		err = s.read(ctx, l.db, s.names)
	}
	if err != nil {
		return nil, fmt.Errorf("list states: %w", Unavailable(err))
	}
	list := make([]domain.Stream, len(s.names))
	for i, name := range s.names {
		list[i] = *s.known[name]
	}
	return list, nil
}

// StatesOf are the states of streams by name, with one query. A stream without facts has no state.
func (l *Reader) StatesOf(ctx context.Context, tenant string, names []string) (map[string]domain.State, error) {
	s := newStreams(l.db.Engine, tenant, nil)
	for _, name := range names {
		s.want(name)
	}
	if err := s.read(ctx, l.db, s.names); err != nil {
		return nil, fmt.Errorf("read states: %w", Unavailable(err))
	}
	found := map[string]domain.State{}
	for name, stream := range s.known {
		if stream.Exists() {
			found[name] = stream.State
		}
	}
	return found, nil
}

// NewestOf are, by stream, the newest of the events that have one of the names.
func (l *Reader) NewestOf(
	ctx context.Context, tenant string, streams, names []string,
) (map[string]domain.Event, error) {
	if len(streams) == 0 {
		return nil, nil
	}
	found, err := queryEvents(ctx, l.db, `
		WHERE e.tenant = ? AND (e.stream, e.version) IN (
			SELECT n.stream, max(n.version)
			FROM events AS n
			WHERE n.tenant = ? AND n.stream IN (?) AND n.name IN (?)
			GROUP BY n.stream
		)
		ORDER BY e.stream`, tenant, tenant, bun.List(streams), bun.List(names))
	if err != nil {
		return nil, fmt.Errorf("find newest events: %w", Unavailable(err))
	}
	newest := map[string]domain.Event{}
	for _, event := range found {
		newest[event.Stream] = event
	}
	return newest, nil
}

// plainEvents reads a stream up to a version, or all of it if that is 0: facts without their texts, and
// [domain.EventMetadata]. It holds one event in memory.
func plainEvents(
	ctx context.Context, db database.Querier, tenant, stream string, upTo int64,
) iter.Seq2[domain.Event, error] {
	if upTo == 0 {
		upTo = math.MaxInt64
	}
	return func(yield func(domain.Event, error) bool) {
		err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
			r := Record{Tenant: tenant, Stream: stream}
			err := rows.Scan(
				&r.Position, &r.EventID, &r.Version, &r.Name, &r.SchemaVersion, &r.RecordedAt, &r.OccurredAt, &r.Data,
			)
			if err != nil {
				return err
			}
			event, err := r.Event()
			if err != nil {
				return err
			}
			if !yield(event, nil) {
				return database.ErrEnough
			}
			return nil
		}, `
			SELECT position, event_id, version, name, schema_version, recorded_at, occurred_at, data
			FROM events
			WHERE tenant = ? AND stream = ? AND version <= ?
			ORDER BY version`, tenant, stream, upTo)
		if err != nil {
			yield(domain.Event{}, err)
		}
	}
}

// storedState is a row of streams.
type storedState struct {
	version, position int64
	form              int
	state             []byte
}

// CheckStates compares the rows of a tenant's streams with their events, one stream at a time. It names the streams
// whose rows are missing, superfluous or wrong. A state in the form of another release cannot be compared and counts
// as right, since it is computed again before its use.
func (at Snapshot) CheckStates(ctx context.Context, tenant string) (wrong []string, err error) {
	rows := map[string]storedState{}
	err = database.ForEach(ctx, at.db, func(found *sql.Rows) error {
		var name string
		var k storedState
		err := found.Scan(&name, &k.version, &k.position, &k.form, &k.state)
		rows[name] = k
		return err
	}, "SELECT stream, version, position, form, state FROM streams WHERE tenant = ?", tenant)
	if err != nil {
		return nil, fmt.Errorf("check states: %w", Unavailable(err))
	}
	var names []string
	err = database.ForEach(ctx, at.db, func(found *sql.Rows) error {
		var name string
		err := found.Scan(&name)
		names = append(names, name)
		return err
	}, `
		SELECT stream
		FROM events
		WHERE tenant = ? AND version = 1 AND NOT (`+OfKind("stream", domain.KnowledgeStreams)+")", tenant)
	if err != nil {
		return nil, fmt.Errorf("check states: %w", Unavailable(err))
	}
	for _, name := range names {
		stream, err := foldStream(ctx, at.db, tenant, name, 0)
		if err != nil {
			return nil, Unavailable(err)
		}
		row, found := rows[name]
		delete(rows, name)
		if !found || !row.says(stream) {
			wrong = append(wrong, name)
		}
	}
	wrong = slices.AppendSeq(wrong, maps.Keys(rows))
	slices.Sort(wrong)
	return wrong, nil
}

func (k storedState) says(s domain.Stream) bool {
	if k.form != kindOfStream(s.Name).Form {
		return true
	}
	state, err := codec.Marshal(s.State)
	return err == nil && k.version == s.Version && k.position == s.Position && bytes.Equal(k.state, state)
}

// RepairStates computes the rows of streams again, and lets the inline projection do so with its own.
func (l *Log) RepairStates(ctx context.Context, tenant string, names []string) error {
	return l.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := l.LockTenant(ctx, tx, tenant); err != nil {
			return err
		}
		b := &batch{log: l, tenant: tenant, streams: newStreams(l.db.Engine, tenant, nil)}
		for _, name := range names {
			b.streams.want(name)
			b.streams.stale = append(b.streams.stale, name)
		}
		if err := b.streams.refresh(ctx, tx); err != nil {
			return err
		}
		stage, err := l.inline.Load(ctx, tx, tenant, nil, nil)
		if err != nil {
			return fmt.Errorf("load inline projection: %w", err)
		}
		for _, name := range names {
			if b.streams.known[name].Exists() {
				b.streams.changed[name] = true
				for event, err := range plainEvents(ctx, tx, tenant, name, 0) {
					if err == nil {
						err = stage.Apply(event)
					}
					if err != nil {
						return err
					}
				}
				continue
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM streams WHERE tenant = ? AND stream = ?", tenant, name); err != nil {
				return err
			}
		}
		inserts, err := b.inserts()
		if err != nil {
			return err
		}
		return stage.Save(ctx, inserts)
	})
}
