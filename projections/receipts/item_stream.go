package receipts

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// itemStream is the stream of an item up to a version, with its digests.
type itemStream struct {
	id      string
	records []events.Record
	digests []history // of versions 1, 2, 3 …
	fault   string    // what is wrong with it; empty for nothing
	faultAt int64     // the version from which on it is wrong
}

// stream reads the stream of the item with a number. An item that the log does not have has no id.
func (r *Receipts) stream(ctx context.Context, tenant string, number, upTo int64) (s itemStream, err error) {
	var name string
	err = database.ForEach(ctx, r.db, func(rows *sql.Rows) error { return rows.Scan(&name) }, `
		SELECT stream
		FROM events
		WHERE tenant = ? AND position = ?`, tenant, number)
	if err != nil {
		return s, failed(ctx, err)
	}
	id, isItem := domain.ItemOf(name)
	if !isItem {
		s.fault = "the log has no such item"
		return s, nil
	}
	s.id = id
	if s.records, err = r.log.Reader.StreamRecords(ctx, tenant, name, upTo); err != nil {
		return s, err
	}
	var last history
	for i, record := range s.records {
		fault := record.Fault()
		if record.Version != int64(i)+1 {
			fault = "an event is missing before it"
		}
		if fault != "" && s.fault == "" {
			s.fault, s.faultAt = fmt.Sprintf("%s at position %d: %s", record.Name, record.Position, fault), record.Version
		}
		last = next(last, record.Hash)
		s.digests = append(s.digests, last)
	}
	return s, nil
}

// digest is the digest of the stream up to a version; zero if it does not have that version.
func (s *itemStream) digest(version int64) history {
	if version < 1 || version > int64(len(s.digests)) {
		return history{}
	}
	return s.digests[version-1]
}

// faultOf says what is wrong with an item of a receipt; empty for nothing.
func (s *itemStream) faultOf(item Item) string {
	whole := s.digest(item.Version)
	switch {
	case s.fault != "" && item.Version >= s.faultAt:
		return s.fault
	case whole == (history{}):
		return fmt.Sprintf("the log has no version %d of it", item.Version)
	case [historySize]byte(whole[:historySize]) != item.History:
		return "its history is not the one that was given"
	}
	return ""
}

// knowledge is the item at a version, as far as its texts still exist. certificate is the event that destroyed texts of
// it, or else took something out of them; empty if they are complete.
func (r *Receipts) knowledge(
	ctx context.Context, tenant string, s *itemStream, version int64,
) (k *domain.Knowledge, certificate string, erased bool, err error) {
	k = &domain.Knowledge{ID: s.id}
	policy := domain.DefaultConfidence()
	var destroyed []int64
	for i := range s.records[:min(version, int64(len(s.records)))] {
		record := &s.records[i]
		event, err := record.Event()
		if err == nil {
			err = k.Evolve(event.Fact, event.Metadata(), policy)
		}
		if err != nil {
			return nil, "", false, fmt.Errorf("replay %s: %w", record.Stream, err)
		}
		if record.Text == nil && record.TextCommitment != nil {
			destroyed = append(destroyed, record.Position)
			erased = erased || record.Redacted == nil
		}
	}
	if len(destroyed) == 0 {
		return k, "", false, nil
	}
	err = database.ForEach(ctx, r.db, func(rows *sql.Rows) error { return rows.Scan(&certificate) }, `
		SELECT e.event_id
		FROM destroyed_texts AS d
		JOIN events AS e ON e.tenant = d.tenant AND e.position = d.said_at
		WHERE d.tenant = ? AND d.position IN (?)
		ORDER BY d.said_at DESC
		LIMIT 1`, tenant, bun.List(destroyed))
	if err != nil {
		return nil, "", false, failed(ctx, err)
	}
	return k, certificate, erased, nil
}
