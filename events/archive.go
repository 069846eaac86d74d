package events

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/codec"

	"github.com/annals-kb/annals/domain"
)

// archive implements [domain.LogReader] over the stored log and the earlier commands of the batch.
type archive struct{ *batch }

var _ domain.LogReader = archive{}

func (a archive) TextsOf(stream string) (texts []domain.RecordedText) {
	add := func(w domain.RecordedText, data []byte) error {
		if w.Name == (domain.Redacted{}).Name() {
			var named struct {
				Events []string `json:"events"`
			}
			if err := json.Unmarshal(data, &named); err != nil {
				return err
			}
			w.Instead = named.Events
		}
		texts = append(texts, w)
		return nil
	}
	a.each(func(rows *sql.Rows) error {
		var w domain.RecordedText
		var data, text []byte
		if err := rows.Scan(&w.EventID, &w.Position, &w.Name, &data, &text); err != nil {
			return err
		}
		w.Text = text
		return add(w, data)
	}, `
		SELECT e.event_id, e.position, e.name, e.data, t.text
		FROM events AS e
		JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
		WHERE e.tenant = ? AND e.stream = ?
		ORDER BY e.version`, a.tenant, stream)
	for _, r := range a.records {
		if r.Stream == stream && r.Text != nil {
			a.note(add(domain.RecordedText{EventID: r.EventID, Position: r.Position, Name: r.Name, Text: r.Text}, r.Data))
		}
	}
	gone := a.destroyed()
	return slices.DeleteFunc(texts, func(w domain.RecordedText) bool { return gone[w.EventID] })
}

func (a archive) NewestFact(stream, name, authentication string) (found domain.Fact) {
	var newest codec.Payload
	a.each(func(rows *sql.Rows) error {
		var data, text []byte
		newest.Name = name
		err := rows.Scan(&newest.SchemaVersion, &data, &text)
		newest.Data, newest.Text = data, text
		return err
	}, `
		SELECT e.schema_version, e.data, `+currentText+`
		FROM `+recordTables+`
		WHERE e.tenant = ? AND e.stream = ? AND e.name = ? AND (? = '' OR e.authentication = ?)
		ORDER BY e.version DESC
		LIMIT 1`, a.tenant, stream, name, authentication, authentication)
	for _, r := range a.records {
		if r.Stream == stream && r.Name == name && (authentication == "" || r.Authentication == authentication) {
			newest = codec.Payload{Name: r.Name, SchemaVersion: r.SchemaVersion, Data: r.Data, Text: r.Text}
		}
	}
	if newest.Name == "" || a.streams.failed != nil {
		return nil
	}
	found, err := codec.Decode(newest)
	a.note(err)
	return found
}

func (a archive) NewestID(stream string) (id string) {
	a.each(func(rows *sql.Rows) error { return rows.Scan(&id) }, `
		SELECT event_id
		FROM events
		WHERE tenant = ? AND stream = ?
		ORDER BY version DESC
		LIMIT 1`, a.tenant, stream)
	for _, r := range a.records {
		if r.Stream == stream {
			id = r.EventID
		}
	}
	return id
}

func (a archive) OpenSubscriptions(of domain.Entity) int {
	open := map[string]bool{}
	a.each(func(rows *sql.Rows) error {
		var stream string
		err := rows.Scan(&stream)
		open[stream] = true
		return err
	}, `
		SELECT stream
		FROM streams
		WHERE tenant = ? AND `+OfKind("stream", domain.SubscriptionStreams)+`
			AND (state ->> 'subscriber' = ? OR state ->> 'by' = ?) AND state ->> 'ended_at' IS NULL`,
		a.tenant, string(of), string(of))
	for stream := range a.streams.changed {
		if s, is := a.streams.known[stream].State.(domain.Subscription); is && (s.Subscriber == of || s.By == of) {
			if open[stream] = true; !s.EndedAt.IsZero() {
				delete(open, stream)
			}
		}
	}
	return len(open)
}

// each runs a query in the batch's transaction.
func (a archive) each(scan func(*sql.Rows) error, query string, args ...any) {
	if a.streams.failed == nil {
		a.note(database.ForEach(a.streams.ctx, a.streams.tx, scan, query, args...))
	}
}

// note keeps the error of a look-up, which refuses the command.
func (a archive) note(err error) {
	if err != nil && a.streams.failed == nil {
		a.streams.failed = fmt.Errorf("look up: %w", Unavailable(err))
	}
}
