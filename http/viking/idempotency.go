package viking

import (
	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

const idempotencyHeader = "Idempotency-Key"

// idempotencyKey is the Idempotency-Key of the request; empty for none. The server has refused invalid ones.
func (q *query) idempotencyKey() string { return q.request.Header.Get(idempotencyHeader) }

// fingerprint covers method, path, caller, parameters and body.
func (q *query) fingerprint() domain.Fingerprint {
	outline := []string{q.request.Method, q.request.URL.Path, string(q.caller.Subject), string(q.caller.OnBehalfOf)}
	return domain.FingerprintOf(outline, q.request.URL.Query().Encode(), string(q.sent))
}

// newSessionID makes an id for a session without one. A repeated request gets the same id.
func (q *query) newSessionID() string {
	if key := q.idempotencyKey(); key != "" {
		return uuid.NewSHA1(uuid.NameSpaceURL, []byte(q.caller.Tenant+" "+string(q.caller.Subject)+" "+key)).String()
	}
	return uuid.NewString()
}
