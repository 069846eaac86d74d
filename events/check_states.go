package events

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/codec"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// storedState is a row of streams as it is.
type storedState struct {
	version, position int64
	form              int
	state             []byte
}

// CheckStates compares what is storedState about a tenant's streams of things other than knowledge with what
// their events come to, one stream at a time, and names the streams whose rows are missing, too many, or
// not what the events say. What another program's form of a state is cannot be compared and counts as
// right: it is computed again when it is used.
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
		return nil, fmt.Errorf("check states: %w", unavailable(err))
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
		WHERE tenant = ? AND version = 1 AND NOT (stream > ? AND stream < 'knowledge;')`,
		tenant, domain.KnowledgeStream(""))
	if err != nil {
		return nil, fmt.Errorf("check states: %w", unavailable(err))
	}
	for _, name := range names {
		stream, err := foldStream(ctx, at.db, tenant, name, 0)
		if err != nil {
			return nil, unavailable(err)
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
	if k.form != kindOfStream(s.Name).form {
		return true
	}
	state, err := codec.Marshal(s.State)
	return err == nil && k.version == s.Version && k.position == s.Position && bytes.Equal(k.state, state)
}

// MendStates computes again what is storedState about streams.
func (l *Log) MendStates(ctx context.Context, tenant string, names []string) error {
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
		for _, name := range names {
			if b.streams.known[name].Exists() {
				b.streams.changed[name] = true
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
		return inserts.Run(ctx, tx)
	})
}
