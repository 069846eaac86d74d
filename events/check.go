package events

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
)

// maxEnvelope is how many bytes a field of the envelope may have.
const maxEnvelope = 512

// check refuses what no database could keep, before it spoils other people's transaction.
func check(s domain.Submission) error {
	if s.By.Tenant == "" || s.By.Subject == "" || s.Command == nil {
		return errors.New("submit: a command, a tenant and a subject are needed")
	}
	var p domain.Problems
	for _, field := range []struct{ name, value string }{
		{"request_id", s.Origin.RequestID},
		{"correlation_id", s.Origin.CorrelationID},
		{"causation_id", s.Origin.CausationID},
		{"traceparent", s.Origin.Traceparent},
		{"reason_code", s.Origin.ReasonCode},
	} {
		checkWord(&p, field.name, field.value)
	}
	if at := s.Origin.OccurredAt; !at.IsZero() && (at.UTC().Year() < 1 || at.UTC().Year() > 9999) {
		p.Add("occurred_at", "must lie in the years 1 to 9999")
	}
	if s.Request != nil {
		checkWord(&p, "idempotency_key", s.Request.Key)
		if s.Request.Key == "" {
			p.Add("idempotency_key", "must not be empty")
		}
	}
	return p.Err()
}

func checkWord(p *domain.Problems, field, value string) {
	switch {
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		p.Add(field, "must be valid UTF-8 without NUL characters")
	case len(value) > maxEnvelope:
		p.Add(field, "must have at most %d bytes, has %d", maxEnvelope, len(value))
	}
}
