package events

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// Record is an event as it is stored: the columns of events and, unless the text was destroyed, of event_texts.
type Record struct {
	Tenant         string
	Position       int64
	EventID        string // a UUID in its lower-case text form
	Stream         string
	Version        int64
	Name           string
	SchemaVersion  int
	RecordedAt     database.Time
	OccurredAt     database.Time // zero for none
	Actor          string
	OnBehalfOf     sql.NullString
	Authentication string
	RequestID      sql.NullString
	CorrelationID  sql.NullString
	CausationID    sql.NullString
	Traceparent    sql.NullString
	ReasonCode     sql.NullString
	Data           []byte
	TextCommitment []byte // nil if there never was a text
	Hash           []byte
	Salt           []byte // 32 random bytes; nil without a text, or after its destruction
	Text           []byte // nil without a text, or after its destruction
	Redacted       []byte // the replacement for a destroyed text; nil if there is none
}

// domainSeparator begins every canonical encoding, so that no other kind of data has the same hash.
const domainSeparator = "annals event 1\n"

// Canonical is what the hash of a record is taken over: the bytes "annals event 1\n", and then
// these fields, in this order, each as one of
//
//	00                       absent (NULL)
//	01 LENGTH BYTES          present; LENGTH is that of BYTES, 8 bytes, big-endian
//
//	 1  tenant               UTF-8, as all texts below
//	 2  position             decimal digits, without leading zeros
//	 3  event_id             36 characters, lower case
//	 4  stream
//	 5  version              decimal digits
//	 6  name
//	 7  schema_version       decimal digits
//	 8  recorded_at          2006-01-02T15:04:05.000000Z: UTC, always six decimals
//	 9  occurred_at          the same, or absent
//	10  actor
//	11  on_behalf_of         or absent
//	12  authentication
//	13  request_id           or absent
//	14  correlation_id       or absent
//	15  causation_id         or absent
//	16  traceparent          or absent
//	17  reason_code          or absent
//	18  data                 the stored bytes
//	19  text_commitment      32 bytes, or absent
//
// Every field carries its length, so no two different records have the same encoding.
func (r Record) Canonical() []byte {
	present := func(text string) sql.NullString { return sql.NullString{String: text, Valid: true} }
	number := func(n int64) sql.NullString { return present(strconv.FormatInt(n, 10)) }
	moment := func(t database.Time) sql.NullString { return sql.NullString{String: t.String(), Valid: !t.IsZero()} }
	encoding := append(make([]byte, 0, 512+len(r.Data)), domainSeparator...)
	for _, field := range [...]sql.NullString{
		present(r.Tenant), number(r.Position), present(r.EventID), present(r.Stream), number(r.Version),
		present(r.Name), number(int64(r.SchemaVersion)), moment(r.RecordedAt), moment(r.OccurredAt),
		present(r.Actor), r.OnBehalfOf, present(r.Authentication),
		r.RequestID, r.CorrelationID, r.CausationID, r.Traceparent, r.ReasonCode,
		present(string(r.Data)),
		{String: string(r.TextCommitment), Valid: r.TextCommitment != nil},
	} {
		if !field.Valid {
			encoding = append(encoding, 0)
			continue
		}
		encoding = append(encoding, 1)
		encoding = binary.BigEndian.AppendUint64(encoding, uint64(len(field.String)))
		encoding = append(encoding, field.String...)
	}
	return encoding
}

func (r Record) hash() []byte {
	sum := sha256.Sum256(r.Canonical())
	return sum[:]
}

// Fault says how a record differs from what was recorded; empty if it does not. A destroyed text is no fault.
func (r Record) Fault() string {
	switch {
	case !bytes.Equal(r.hash(), r.Hash):
		return "its hash is not that of its fields"
	case r.Text != nil && r.TextCommitment == nil:
		return "it has a text, and was recorded without one"
	case r.Text != nil && !hmac.Equal(commitment(r.Salt, r.Text), r.TextCommitment):
		return "its text is not the one that was recorded"
	}
	return ""
}

// Event decodes a record, with its text or the replacement.
func (r *Record) Event() (domain.Event, error) {
	text := r.Text
	if text == nil {
		text = r.Redacted
	}
	fact, err := codec.Decode(codec.Payload{Name: r.Name, SchemaVersion: r.SchemaVersion, Data: r.Data, Text: text})
	if err != nil {
		return domain.Event{}, fmt.Errorf("position %d of tenant %s, %s: %w", r.Position, r.Tenant, r.Stream, err)
	}
	return domain.Event{
		Tenant: r.Tenant, Position: r.Position, EventID: r.EventID,
		Stream: r.Stream, Version: r.Version, Name: r.Name, SchemaVersion: r.SchemaVersion,
		RecordedAt: r.RecordedAt.Time, OccurredAt: r.OccurredAt.Time,
		Actor: domain.Entity(r.Actor), OnBehalfOf: domain.Entity(r.OnBehalfOf.String),
		Authentication: r.Authentication, RequestID: r.RequestID.String,
		CorrelationID: r.CorrelationID.String, CausationID: r.CausationID.String,
		Traceparent: r.Traceparent.String, ReasonCode: r.ReasonCode.String,
		Data: r.Data, Text: text,
		TextErased: text == nil && r.TextCommitment != nil, TextRedacted: r.Text == nil && text != nil,
		Hash: r.Hash, Fact: fact,
	}, nil
}

// saltSize is the number of random bytes that prevent guessing a destroyed text.
const saltSize = 32

// commitment is HMAC-SHA256 of the text under its salt. Once the salt is destroyed with the text, the commitment
// reveals nothing, not even about the shortest text.
func commitment(salt, text []byte) []byte {
	mac := hmac.New(sha256.New, salt)
	mac.Write(text)
	return mac.Sum(nil)
}
