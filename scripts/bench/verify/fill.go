package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/scripts/bench"
)

// fill writes a log of votes for a tenth as many items, each with a text.
func fill(ctx context.Context, db *database.DB, size int) error {
	bar := bench.Watch(fmt.Sprintf("%s: record %d events", db.Engine, size), size)
	const page = 1000
	for written := 0; written < size; written += page {
		rows, texts := []byte(nil), []byte(nil)
		n := min(page, size-written)
		for i := range n {
			r := recordAt(int64(written+i+1), size)
			rows, texts = comma(rows), comma(texts)
			rows = database.AppendRow(rows, db.Engine, []any{
				r.Tenant, r.Position, r.EventID, r.Stream, r.Version, r.Name, r.SchemaVersion,
				r.RecordedAt, r.Actor, r.Authentication, string(r.Data), r.TextCommitment, r.Hash,
			})
			texts = database.AppendRow(texts, db.Engine, []any{r.Tenant, r.Position, r.Salt, string(r.Text)})
		}
		err := db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, `
				INSERT INTO events (
					tenant, position, event_id, stream, version, name, schema_version,
					recorded_at, actor, authentication, data, text_commitment, hash)
				VALUES `+string(rows)+`;
				INSERT INTO event_texts (tenant, position, salt, text)
				VALUES `+string(texts))
			return err
		})
		if err != nil {
			return err
		}
		bar.Add(n)
	}
	bar.End()
	if db.Engine == database.Postgres {
		_, err := db.ExecContext(ctx, "VACUUM (ANALYZE) events, event_texts")
		return err
	}
	return nil
}

func comma(rows []byte) []byte {
	if rows == nil {
		return []byte{}
	}
	return append(rows, ",\n"...)
}

// recordAt makes up the record at a position: streams take turns.
func recordAt(position int64, size int) events.Record {
	streams := int64(max(1, size/10))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(position) * time.Millisecond)
	var id uuid.UUID
	_, _ = rand.Read(id[6:]) // never fails
	for i := range 6 {
		id[i] = byte(at.UnixMilli() >> (40 - 8*i))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	r := events.Record{
		Tenant: tenant, Position: position, EventID: id.String(), Stream: fmt.Sprintf("knowledge:item-%d", position%streams),
		Version: (position-1)/streams + 1, Name: "knowledge.found_helpful", SchemaVersion: 1, RecordedAt: database.At(at),
		Actor: fmt.Sprintf("user:%d", position%97), Authentication: "open",
		Data: fmt.Appendf(nil, `{"voter":"user:%d","ballot":"trace:t-%d","trace_id":"t-%d"}`, position%97, position, position),
		Text: fmt.Appendf(nil, `{"query":"how do I call a rate-limited API, question number %d?","outcome":"it worked at once, and the retries stayed within the limit"}`, position),
		Salt: make([]byte, 32),
	}
	_, _ = rand.Read(r.Salt)
	mac := hmac.New(sha256.New, r.Salt)
	mac.Write(r.Text)
	r.TextCommitment = mac.Sum(nil)
	hash := sha256.Sum256(r.Canonical())
	r.Hash = hash[:]
	return r
}
