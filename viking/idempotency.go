package viking

import (
	"context"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

const idempotencyHeader = "Idempotency-Key"

// idempotencyKey is the key under which a request happens once, however often it is sent; empty for none. The server
// has refused one that cannot be.
func (q *query) idempotencyKey() string { return q.request.Header.Get(idempotencyHeader) }

// submitIdempotent takes the one command that a request consists of to the log. A request repeated with the same
// Idempotency-Key happens once and is answered as the first time.
func (s *Server) submitIdempotent(ctx context.Context, q *query, command domain.Command) (domain.Receipt, error) {
	if err := validate(command); err != nil {
		return domain.Receipt{}, err
	}
	submission := q.submission(command)
	if key := q.idempotencyKey(); key != "" {
		submission.Request = &domain.Request{Key: key, Fingerprint: q.fingerprint()}
	}
	if err := q.found.Err(); err != nil {
		return domain.Receipt{}, err
	}
	return s.cfg.Writer.Submit(ctx, submission)
}

// fingerprint is of method, path and who asks, and then of parameters and body.
func (q *query) fingerprint() domain.Fingerprint {
	outline := []string{q.request.Method, q.request.URL.Path, string(q.caller.Subject), string(q.caller.OnBehalfOf)}
	return domain.FingerprintOf(outline, q.request.URL.Query().Encode(), string(q.sent))
}

// newSessionID is the id of a session that the caller has not named: the same for a request that is repeated.
func (q *query) newSessionID() string {
	if key := q.idempotencyKey(); key != "" {
		return uuid.NewSHA1(uuid.NameSpaceURL, []byte(q.caller.Tenant+" "+string(q.caller.Subject)+" "+key)).String()
	}
	return uuid.NewString()
}
