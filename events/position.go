package events

import (
	"database/sql"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// stamp gives a record the next position after the head of the log, and hashes it. The transaction holds the tenant's
// lock, so that no other record gets the same position: see lock.go.
func (b *batch) stamp(r *Record, c domain.Submission, first bool) {
	b.head.position++
	r.Tenant, r.Position, r.EventID = b.tenant, b.head.position, b.ids.next(b.now, first).String()
	r.Stream = c.Command.Stream()
	r.Version = b.subject(r.Stream).version + 1
	r.RecordedAt, r.OccurredAt = database.At(b.now), database.At(c.Origin.OccurredAt)
	r.Actor, r.OnBehalfOf = string(c.By.Subject), orAbsent(string(c.By.OnBehalfOf))
	r.Authentication = c.By.Authentication
	r.RequestID, r.CorrelationID = orAbsent(c.Origin.RequestID), orAbsent(c.Origin.CorrelationID)
	r.CausationID, r.Traceparent = orAbsent(c.Origin.CausationID), orAbsent(c.Origin.Traceparent)
	r.ReasonCode = orAbsent(c.Origin.ReasonCode)
	r.Hash = r.hash()
}

// orAbsent stores an empty string as NULL.
func orAbsent(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
