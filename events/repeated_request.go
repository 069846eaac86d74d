package events

import (
	"context"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// request is a row of requests: the answer to an idempotency key.
type request struct {
	requestKey
	Fingerprint []byte // outline and whole; only the outline after a text of the stream was destroyed
	Stream      string
	Version     int64 // of the stream after the request
	Position    int64
	Outcome     string
}

// recorded is the fingerprint in the form of a request's row.
func recorded(f domain.Fingerprint) []byte { return slices.Concat(f.Outline[:], f.Whole[:]) }

type requestKey struct{ Subject, Key string }

func keyOf(s domain.Submission) requestKey {
	return requestKey{Subject: string(s.By.Subject), Key: s.Request.Key}
}

// requestsQuery looks up each key in the primary key's index. Without this form, PostgreSQL might read the whole
// table.
func requestsQuery(engine database.Engine, tenant string, keys []requestKey) (query string, args []any) {
	pairs := make([][]string, len(keys))
	for i, k := range keys {
		pairs[i] = []string{k.Subject, k.Key}
	}
	if engine == database.SQLite {
		return `
			SELECT r.subject, r.key, r.fingerprint, r.stream, r.version, r.position, r.outcome
			FROM json_each(?) AS k
			CROSS JOIN requests AS r
			WHERE r.tenant = ? AND r.subject = k.value ->> 0 AND r.key = k.value ->> 1`, []any{database.List(pairs), tenant}
	}
	return `
		SELECT r.subject, r.key, r.fingerprint, r.stream, r.version, r.position, r.outcome
		FROM json_array_elements(?::json) AS k (value)
		CROSS JOIN LATERAL (
			SELECT *
			FROM requests
			WHERE tenant = ? AND subject = k.value ->> 0 AND key = k.value ->> 1
			LIMIT 1
		) AS r`, []any{database.List(pairs), tenant}
}

// answerAgain answers a repeated request like the first time, from the events that it caused. The error matches
// domain.ErrErased if the item was erased since.
func (l *Log) answerAgain(ctx context.Context, tenant string, r request) (domain.Receipt, error) {
	id, isItem := domain.ItemOf(r.Stream)
	if !isItem {
		return l.answerStreamAgain(ctx, tenant, r)
	}
	events, err := queryEvents(ctx, l.db, `
		WHERE e.tenant = ? AND e.stream = ? AND (e.version <= ? OR e.name = ?)
		ORDER BY e.version`, tenant, r.Stream, r.Version, domain.Erased{}.Name())
	if err != nil {
		return domain.Receipt{}, fmt.Errorf("answer again: %w", Unavailable(err))
	}
	receipt := domain.Receipt{Position: r.Position, Outcome: r.Outcome, Replayed: true}
	k := &domain.Knowledge{ID: id}
	for _, event := range events {
		if event.Name == (domain.Erased{}).Name() && event.Version > r.Version {
			return domain.Receipt{}, domain.Refuse(domain.ErrErased, "%s was erased for good", id)
		}
		if err := k.Evolve(event.Fact, event.Metadata(), l.options.Policy); err != nil {
			return domain.Receipt{}, fmt.Errorf("answer again: %w", err)
		}
	}
	if k.Version != r.Version {
		return domain.Receipt{}, holeError{tenant: tenant, stream: r.Stream, missing: k.Version + 1}
	}
	receipt.Knowledge = k.At(events[len(events)-1].RecordedAt)
	if r.Outcome != domain.Unchanged {
		receipt.Events = lastCommand(events)
	}
	return receipt, nil
}

// answerStreamAgain is answerAgain for streams that are not about knowledge. It reads only the texts of the request's
// own events.
func (l *Log) answerStreamAgain(ctx context.Context, tenant string, r request) (domain.Receipt, error) {
	receipt := domain.Receipt{Position: r.Position, Outcome: r.Outcome, Replayed: true}
	receipt.Stream = domain.Stream{Name: r.Stream, State: kindOfStream(r.Stream).State}
	if r.Version == 0 {
		return receipt, nil
	}
	first, before := int64(1), ""
	for event, err := range plainEvents(ctx, l.db, tenant, r.Stream, r.Version) {
		if err == nil {
			err = receipt.Stream.Evolve(event.Fact, event.Metadata())
		}
		if err != nil {
			return domain.Receipt{}, fmt.Errorf("answer again: %w", Unavailable(err))
		}
		if !follows(before, event.EventID) {
			first = event.Version
		}
		before = event.EventID
	}
	if receipt.Stream.Version != r.Version {
		return domain.Receipt{}, holeError{tenant: tenant, stream: r.Stream, missing: receipt.Stream.Version + 1}
	}
	if r.Outcome == domain.Unchanged {
		return receipt, nil
	}
	var err error
	receipt.Events, err = queryEvents(ctx, l.db, `
		WHERE e.tenant = ? AND e.stream = ? AND e.version BETWEEN ? AND ?
		ORDER BY e.version`, tenant, r.Stream, first, r.Version)
	if err != nil {
		return domain.Receipt{}, fmt.Errorf("answer again: %w", Unavailable(err))
	}
	for _, event := range receipt.Events {
		if event.TextErased {
			return domain.Receipt{}, domain.Refuse(domain.ErrErased, "what it was about was erased for good")
		}
	}
	return receipt, nil
}

// lastCommand are the last events that one command recorded: their ids are consecutive.
func lastCommand(events []domain.Event) []domain.Event {
	first := max(0, len(events)-1)
	for first > 0 && follows(events[first-1].EventID, events[first].EventID) {
		first--
	}
	return slices.Clip(events[first:])
}
