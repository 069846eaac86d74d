package events

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
)

// Submit decides a command and records the result. It returns after the commit.
//
// The error is the command's refusal, or matches domain.ErrBusy if too many commands are waiting. It matches
// domain.ErrKeyReused if the idempotency key came with another request before, or domain.ErrErased if that request's
// item was erased since. It can also match domain.ErrUnavailable or domain.ErrFull, or be that of ctx. In all these
// cases nothing was recorded, unless the error also matches database.ErrOutcomeUnknown.
func (l *Log) Submit(ctx context.Context, s domain.Submission) (domain.Receipt, error) {
	result := l.SubmitAll(ctx, []domain.Submission{s})[0]
	return result.Receipt, result.Err
}

// SubmitAll is [Log.Submit] for many commands, with one result for each, in their order. Commands of one tenant are
// decided in order, up to Options.Batch in one transaction, and each fails alone. If a command cannot be tried
// because the queue is full, the database is unavailable or ctx has ended, the tenant's later commands get the same
// error.
func (l *Log) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	results := make([]domain.Result, len(submissions))
	byTenant := map[string][]int{} // indexes of their submissions
	for i, s := range submissions {
		if results[i].Err = check(s); results[i].Err == nil {
			byTenant[s.By.Tenant] = append(byTenant[s.By.Tenant], i)
		}
	}
	for tenant, places := range byTenant {
		var stopped error
		for chunk := range slices.Chunk(places, l.options.Batch) {
			g := &group{commands: make([]command, len(chunk)), done: make(chan struct{})}
			for i, place := range chunk {
				g.commands[i].Submission, g.commands[i].result.Err = submissions[place], stopped
				if l.options.Span != nil {
					g.commands[i].caller = ctx
				}
			}
			if stopped == nil {
				stopped = l.submit(ctx, tenant, g)
			}
			for i, place := range chunk {
				results[place] = g.commands[i].result
			}
		}
	}
	for _, r := range results {
		if r.Err != nil {
			l.metrics.refused.WithLabelValues(domain.KindOf(r.Err)).Inc()
		}
	}
	return results
}

// group is a part of one caller's submissions that is written in one transaction.
type group struct {
	commands []command
	since    time.Time
	taken    atomic.Bool   // by the committer, or by a caller that gives up
	done     chan struct{} // closed when every command has its result
}

// command is a submission and its result. The committer sets the result, then closes the group's done.
type command struct {
	domain.Submission
	result domain.Result
	// earlier is set instead of a result if the request was made before.
	earlier *request
	// caller is the context of the caller, whose trace the command belongs to. Nil if nobody traces.
	caller context.Context //nolint:containedctx // another goroutine writes the command
}

// submit completes a group, so that each of its commands has a result. With an error, the tenant's later groups need
// not be tried. If ctx ends before the committer took the group, the group is dropped; a group that was taken is
// completed.
func (l *Log) submit(ctx context.Context, tenant string, g *group) error {
	if preparation, prepares := l.inline.(Preparation); prepares {
		for i := range g.commands {
			c := &g.commands[i]
			c.Command, c.Then = preparation.Prepare(c.Command), slices.Clone(c.Then)
			for j := range c.Then {
				c.Then[j] = preparation.Prepare(c.Then[j])
			}
		}
	}
	err := context.Cause(ctx)
	if err == nil {
		err = l.enqueue(tenant, g)
	}
	if err == nil {
		select {
		case <-g.done:
		case <-ctx.Done():
			if g.taken.CompareAndSwap(false, true) {
				err = context.Cause(ctx)
			} else {
				<-g.done
			}
		}
	}
	for i := range g.commands {
		c := &g.commands[i]
		if err != nil {
			c.result = domain.Result{Err: err}
		} else if c.earlier != nil {
			c.result.Receipt, c.result.Err = l.answerAgain(ctx, tenant, *c.earlier)
		}
	}
	if last := g.commands[len(g.commands)-1].result.Err; err == nil && errors.Is(last, domain.ErrUnavailable) {
		return last
	}
	return err
}

// tenantQueue is a tenant's queue. It exists while its committer runs.
type tenantQueue struct {
	groups  []*group
	waiting int       // commands in all groups
	oldest  time.Time // since when the first command of the running transaction waits
}

// OldestWait is how long the oldest command waits for its COMMIT; 0 if none waits.
func (l *Log) OldestWait() (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.queues {
		wait = max(wait, time.Since(q.oldest))
	}
	return wait
}

// Prompt refuses while the log is suspended, or while a command waits longer than a server that stopped can keep a
// lock.
func (l *Log) Prompt() error {
	l.mu.Lock()
	suspended := l.suspended
	l.mu.Unlock()
	if suspended != nil {
		return suspended
	}
	if wait := l.OldestWait(); wait > lockPatience {
		return domain.Refuse(domain.ErrBusy, "the oldest write waits for %s", wait.Round(time.Second))
	}
	return nil
}

// enqueue adds a group to the tenant's queue, and starts a committer if there is none.
func (l *Log) enqueue(tenant string, g *group) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return domain.Refuse(domain.ErrUnavailable, "the log is closing").WithFix("try again in a moment")
	}
	if l.suspended != nil {
		return l.suspended
	}
	q, working := l.queues[tenant]
	g.since = time.Now()
	if !working {
		q = &tenantQueue{oldest: g.since}
	}
	if q.waiting+len(g.commands) > l.options.Queue {
		return domain.Refuse(domain.ErrBusy, "too many writes are waiting").WithFix("try again in a moment")
	}
	q.groups = append(q.groups, g)
	q.waiting += len(g.commands)
	l.metrics.queue.Add(float64(len(g.commands)))
	if !working {
		l.queues[tenant] = q
		l.committers.Go(func() { l.commitAll(tenant, q) })
	}
	return nil
}

// take removes groups for one transaction from a queue: whole groups, and at least one. It drops groups whose callers
// have given up. It returns nothing if the queue is empty; the queue and its committer then end.
func (l *Log) take(tenant string, q *tenantQueue) []*group {
	l.mu.Lock()
	defer l.mu.Unlock()
	var batch []*group
	size, n := 0, 0
	for _, g := range q.groups {
		if len(batch) > 0 && size+len(g.commands) > l.options.Batch {
			break
		}
		n++
		q.waiting -= len(g.commands)
		l.metrics.queue.Sub(float64(len(g.commands)))
		if g.taken.CompareAndSwap(false, true) {
			batch = append(batch, g)
			size += len(g.commands)
		}
	}
	clear(q.groups[:n])
	q.groups = q.groups[n:]
	if len(batch) == 0 {
		delete(l.queues, tenant)
	} else {
		q.oldest = batch[0].since
	}
	return batch
}

// maxEnvelope limits the bytes of a field of the envelope.
const maxEnvelope = 512

// check refuses what no database can store, before it fails the transaction of other callers.
func check(s domain.Submission) error {
	if s.By.Tenant == "" || s.By.Subject == "" || s.Command == nil {
		return errors.New("submit: a command, a tenant and a subject are needed")
	}
	var p domain.Problems
	words := [][2]string{
		{"request_id", s.Origin.RequestID},
		{"correlation_id", s.Origin.CorrelationID},
		{"causation_id", s.Origin.CausationID},
		{"traceparent", s.Origin.Traceparent},
		{"reason_code", s.Origin.ReasonCode},
	}
	if s.Request != nil {
		words = append(words, [2]string{"idempotency_key", s.Request.Key})
		if s.Request.Key == "" {
			p.Add("idempotency_key", "must not be empty")
		}
	}
	for _, word := range words {
		switch field, value := word[0], word[1]; {
		case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
			p.Add(field, "must be valid UTF-8 without NUL characters")
		case len(value) > maxEnvelope:
			p.Add(field, "must have at most %d bytes, has %d", maxEnvelope, len(value))
		}
	}
	if at := s.Origin.OccurredAt; !at.IsZero() && (at.UTC().Year() < 1 || at.UTC().Year() > 9999) {
		p.Add("occurred_at", "must lie in the years 1 to 9999")
	}
	return p.Err()
}
