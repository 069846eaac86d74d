package events

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

func sampleRecord() Record {
	text := []byte(`{"reason":"moved"}`)
	salt := bytes.Repeat([]byte{7}, saltSize)
	r := Record{
		Tenant: "default", Position: 12, EventID: "0195a000-0000-7000-8000-000000000001",
		Stream: "knowledge:k", Version: 3, Name: "knowledge.reported_stale", SchemaVersion: 1,
		RecordedAt: database.At(time.Date(2026, 3, 14, 12, 0, 0, 1000, time.UTC)),
		OccurredAt: database.At(time.Date(2026, 3, 13, 0, 0, 0, 0, time.UTC)),
		Actor:      "agent:coder", OnBehalfOf: orAbsent("user:mia"), Authentication: "open",
		RequestID: orAbsent("r"), CorrelationID: orAbsent("c"), CausationID: orAbsent("e"),
		Traceparent: orAbsent("00-1"), ReasonCode: orAbsent("gdpr"),
		Data: []byte(`{"reporter":"user:mia"}`), TextCommitment: commitment(salt, text),
		Salt: salt, Text: text,
	}
	r.Hash = r.hash()
	return r
}

func TestEveryChangedColumnIsNoticed(t *testing.T) {
	t.Parallel()
	for column, change := range map[string]func(*Record){
		"tenant":                  func(r *Record) { r.Tenant = "other" },
		"position":                func(r *Record) { r.Position++ },
		"event_id":                func(r *Record) { r.EventID = "0195a000-0000-7000-8000-000000000002" },
		"stream":                  func(r *Record) { r.Stream += "x" },
		"version":                 func(r *Record) { r.Version++ },
		"name":                    func(r *Record) { r.Name = "knowledge.confirmed" },
		"schema_version":          func(r *Record) { r.SchemaVersion++ },
		"recorded_at":             func(r *Record) { r.RecordedAt = database.At(r.RecordedAt.Add(time.Microsecond)) },
		"occurred_at":             func(r *Record) { r.OccurredAt = database.At(r.OccurredAt.Add(time.Microsecond)) },
		"occurred_at gone":        func(r *Record) { r.OccurredAt = database.Time{} },
		"actor":                   func(r *Record) { r.Actor = "agent:other" },
		"on_behalf_of":            func(r *Record) { r.OnBehalfOf.String = "user:bo" },
		"on_behalf_of gone":       func(r *Record) { r.OnBehalfOf = sql.NullString{} },
		"on_behalf_of emptied":    func(r *Record) { r.OnBehalfOf.String = "" },
		"authentication":          func(r *Record) { r.Authentication = "key:x" },
		"request_id":              func(r *Record) { r.RequestID.String = "s" },
		"correlation_id":          func(r *Record) { r.CorrelationID.String = "s" },
		"causation_id":            func(r *Record) { r.CausationID.String = "s" },
		"traceparent":             func(r *Record) { r.Traceparent.String = "s" },
		"reason_code":             func(r *Record) { r.ReasonCode.String = "s" },
		"request_id moved":        func(r *Record) { r.RequestID, r.CorrelationID = r.CorrelationID, r.RequestID },
		"data":                    func(r *Record) { r.Data = []byte(`{"reporter":"user:bo"}`) },
		"data, by a space":        func(r *Record) { r.Data = []byte(`{"reporter": "user:mia"}`) },
		"text_commitment":         func(r *Record) { r.TextCommitment[0] ^= 1 },
		"text_commitment gone":    func(r *Record) { r.TextCommitment = nil },
		"text_commitment emptied": func(r *Record) { r.TextCommitment = []byte{} },
	} {
		r := sampleRecord()
		change(&r)
		if bytes.Equal(r.hash(), r.Hash) {
			t.Errorf("%s: the hash is the same", column)
		}
	}
}

func TestARecordIsReadWithoutItsDestroyedText(t *testing.T) {
	t.Parallel()
	r := sampleRecord()
	r.Salt, r.Text = nil, nil
	event, err := r.Event()
	if err != nil {
		t.Fatal(err)
	}
	if !event.TextErased {
		t.Error("the event does not say that its text is gone")
	}
}

// The bytes are spelt out here once more, by hand: other programs verify logs too.
func TestTheCanonicalEncodingIsWhatItsCommentSays(t *testing.T) {
	t.Parallel()
	r := Record{
		Tenant: "t", Position: 10, EventID: "0195a000-0000-7000-8000-000000000001",
		Stream: "s", Version: 2, Name: "n", SchemaVersion: 1,
		RecordedAt: database.At(time.Date(2026, 3, 14, 13, 0, 0, 0, time.FixedZone("", 3600))),
		Actor:      "a", OnBehalfOf: sql.NullString{Valid: true}, Authentication: "",
		Data: []byte(`{}`), TextCommitment: []byte{0xff},
	}
	present := func(s string) string {
		return "01" + "00000000000000" + hex.EncodeToString([]byte{byte(len(s))}) + hex.EncodeToString([]byte(s))
	}
	want := hex.EncodeToString([]byte("annals event 1\n")) +
		present("t") + present("10") + present("0195a000-0000-7000-8000-000000000001") + present("s") + present("2") +
		present("n") + present("1") + present("2026-03-14T12:00:00.000000Z") + "00" + present("a") + present("") +
		present("") + "00" + "00" + "00" + "00" + "00" + present("{}") + present("\xff")
	if got := hex.EncodeToString(r.Canonical()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	canonical, err := hex.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(canonical)
	if !bytes.Equal(r.hash(), sum[:]) {
		t.Errorf("got hash %x, want %x", r.hash(), sum)
	}
}

func TestEqualTextsHaveDifferentCommitments(t *testing.T) {
	t.Parallel()
	var first, second Record
	err := errors.Join(first.encode(domain.Deleted{Reason: "moved"}), second.encode(domain.Deleted{Reason: "moved"}))
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Salt) != 32 || len(first.TextCommitment) != 32 || bytes.Equal(first.TextCommitment, second.TextCommitment) {
		t.Errorf("got salt %x, commitments %x and %x", first.Salt, first.TextCommitment, second.TextCommitment)
	}
}
