package events

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
)

// Submit decides a command and records what follows from it. It answers when that is committed.
//
// The error is the command's refusal, or matches domain.ErrBusy if too many are waiting,
// domain.ErrKeyReused if the idempotency key came with another request before, domain.ErrErased if
// that request's item was erased since, or domain.ErrUnavailable, or domain.ErrFull. None of these recorded anything,
// save an error that also matches database.ErrOutcomeUnknown: there, the outcome is unknown. If the error is
// that of ctx, nothing was recorded either.
func (l *Log) Submit(ctx context.Context, s domain.Submission) (domain.Receipt, error) {
	result := l.SubmitAll(ctx, []domain.Submission{s})[0]
	return result.Receipt, result.Err
}

// SubmitAll is [Log.Submit] for many, with one result for each, in their order. Commands of one
// tenant are decided in order, and as many as Options.Batch in one transaction; each fails alone.
// When some cannot be tried because the queue is full, the database is away or ctx has ended, then
// those of the tenant that come after them are not tried either, and get the same error.
func (l *Log) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	results := make([]domain.Result, len(submissions))
	for tenant, places := range byTenant(submissions, results) {
		var stopped error
		for chunk := range slices.Chunk(places, l.options.Batch) {
			if stopped == nil {
				stopped = l.submit(ctx, tenant, submissions, results, chunk)
			} else {
				fill(results, chunk, stopped)
			}
		}
	}
	for _, r := range results {
		if r.Err != nil {
			l.metrics.refusal(r.Err)
		}
	}
	return results
}

// byTenant sorts out the places of each tenant's submissions. Those that cannot even be written
// down have their result already and are left out.
func byTenant(submissions []domain.Submission, results []domain.Result) map[string][]int {
	places := map[string][]int{}
	for i, s := range submissions {
		if err := check(s); err != nil {
			results[i].Err = err
			continue
		}
		places[s.By.Tenant] = append(places[s.By.Tenant], i)
	}
	return places
}

func fill(results []domain.Result, places []int, err error) {
	for _, i := range places {
		results[i] = domain.Result{Err: err}
	}
}

// submit puts a few submissions through together. The error says why later ones need not be tried.
func (l *Log) submit(
	ctx context.Context, tenant string, submissions []domain.Submission, results []domain.Result, places []int,
) error {
	g := newGroup(submissions, places)
	if preparation, prepares := l.inline.(Preparation); prepares {
		for _, c := range g.commands {
			c.Command = preparation.Prepare(c.Command)
		}
	}
	err := context.Cause(ctx)
	if err == nil {
		err = l.enqueue(tenant, g)
	}
	if err == nil {
		err = g.wait(ctx)
	}
	if err != nil {
		fill(results, places, err)
		return err
	}
	for i, c := range g.commands {
		results[places[i]] = c.result
		if c.earlier != nil {
			receipt, err := l.answerAgain(ctx, tenant, *c.earlier)
			results[places[i]] = domain.Result{Receipt: receipt, Err: err}
		}
	}
	if last := results[places[len(places)-1]].Err; errors.Is(last, domain.ErrUnavailable) {
		return last
	}
	return nil
}

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
