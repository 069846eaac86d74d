package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"

	"github.com/annals-kb/annals/http/serve"
)

// sender sends batches to the server. It repeats records that the server could not take: repeated content changes
// nothing.
type sender struct {
	Server   *client.Client
	who      string // the caller, of whom ids are derived
	from     source // the source of the records
	run      string // the run that all records belong to
	update   bool
	reason   string            // the reason of revisions
	me       *domain.Principal // the caller, if the fingerprints of records are compared first; nil to send all
	Patience time.Duration     // how long to repeat a batch of which the server takes nothing
}

// Send answers each record of the batch, in order. When ctx ends, it finishes the running request and repeats
// nothing.
func (s *sender) Send(ctx context.Context, b Batch) ([]lineAnswer, error) {
	answers := make([]lineAnswer, len(b.Records))
	for i, r := range b.Records {
		if r.Err != nil {
			answers[i] = unreadable(r.Err)
		}
	}
	const shortest, longest = 250 * time.Millisecond, 5 * time.Second
	left, pause, failing := s.differing(ctx, b, answers), shortest, time.Time{}
	for len(left) > 0 {
		again, wait, err := s.attempt(ctx, b, left, answers)
		if len(again) == 0 {
			return answers, err
		}
		if len(again) < len(left) || failing.IsZero() {
			failing, pause = time.Now(), shortest
		}
		left, wait = again, max(wait, min(pause, longest))
		if time.Since(failing)+wait > s.Patience {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		pause *= 2
	}
	return answers, nil
}

// differing answers the records that would change nothing, by the fingerprints of their items, and returns the others.
// It returns every record whose fingerprint it cannot tell, and those with the same id.
func (s *sender) differing(ctx context.Context, b Batch, answers []lineAnswer) (left []int) {
	if s.me == nil {
		return b.Sent
	}
	commands, ids, times := make([]domain.Remember, len(b.Records)), []string(nil), map[string]int{}
	for _, i := range b.Sent {
		var in api.Knowledge
		if json.Unmarshal(b.Records[i].Raw, &in) == nil && in.ID != "" {
			if c, err := serve.RememberOf(in, *s.me).Complete(); err == nil {
				commands[i] = c
			}
			ids, times[in.ID] = append(ids, in.ID), times[in.ID]+1
		}
	}
	known, err := fingerprintsOf(ctx, s.Server, ids)
	if err != nil { // sending tells whether the server is away, or is older than fingerprints
		return b.Sent
	}
	for _, i := range b.Sent {
		if of := known[commands[i].ID]; times[of.ID] == 1 && repeats(commands[i], of) {
			answers[i] = lineAnswer{api.BulkAnswer{ID: of.ID, Status: domain.Unchanged, Revision: of.Revision}}
		} else {
			left = append(left, i)
		}
	}
	return left
}

// callerOf is the caller as commands know it.
func callerOf(me api.Identity) *domain.Principal {
	return &domain.Principal{
		Tenant: me.Tenant, Subject: domain.Entity(me.Subject), OnBehalfOf: domain.Entity(me.OnBehalfOf),
		Memberships: serve.FromStrings[domain.Entity](me.Memberships), Role: domain.Role(me.Role),
		PublishPublic: me.PublishPublic,
	}
}

// fingerprintsOf are the fingerprints of the items that the server has of some, by their ids.
func fingerprintsOf(ctx context.Context, server *client.Client, ids []string) (map[string]api.Fingerprint, error) {
	var found api.Fingerprints
	known := map[string]api.Fingerprint{}
	_, err := server.Do(ctx, client.Request{
		Method: http.MethodPost, Path: []string{"v1", "knowledge", "fingerprints"}, Body: api.FingerprintsOf{IDs: ids},
	}, &found)
	for _, one := range found.Items {
		known[one.ID] = one
	}
	return known, err
}

// repeats tells whether a completed command would change nothing about the item with a fingerprint.
func repeats(c domain.Remember, of api.Fingerprint) bool {
	scopes := serve.FromStrings[domain.Scope](of.Scopes)
	k := &domain.Knowledge{Scopes: scopes, Owner: domain.Entity(of.Owner), Text: domain.Text{URI: of.URI}}
	return of.Fingerprint != "" && c.Repeats(k, of.Fingerprint)
}

// attempt sends the remaining records and notes their answers. It returns the records to repeat, the time that the
// server asks to wait, and the reason.
func (s *sender) attempt(
	ctx context.Context, b Batch, left []int, answers []lineAnswer,
) (again []int, wait time.Duration, err error) {
	query := url.Values{}
	if s.update {
		query.Set("update", "true")
	}
	answer, err := s.Server.Do(context.WithoutCancel(ctx), client.Request{
		Method: http.MethodPost, Path: []string{"v1", "knowledge"}, Query: query,
		Header: http.Header{"Content-Type": {"application/x-ndjson"}, "Annals-Correlation-Id": {s.run}},
		Body:   b.body(left, s.who, s.from, s.reason),
	}, nil)
	if err != nil {
		if refused, is := errors.AsType[*client.Error](err); is {
			wait = refused.RetryAfter
		}
		if terminal.AsFailure(err).Code == terminal.ExitUnavailable {
			again = left
		}
		return again, wait, err
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Body))
	for n, i := range left {
		var reply lineAnswer
		if decoder.Decode(&reply) != nil { // the connection broke in the middle
			err = &terminal.Failure{
				Code:   terminal.ExitUnavailable,
				Detail: fmt.Sprintf("the server left %s unanswered", b.Records[i].Place),
			}
			return append(again, left[n:]...), 0, err
		}
		if why := reply.Why(); why != nil && why.Code == terminal.ExitUnavailable {
			again, err = append(again, i), why
			continue
		}
		answers[i] = reply
	}
	return again, 0, err
}

// lineAnswer is the answer for one line.
type lineAnswer struct{ api.BulkAnswer }

// Why is the failure of the line; nil if it succeeded.
func (a lineAnswer) Why() *terminal.Failure {
	if a.Error == nil {
		return nil
	}
	return terminal.ProblemOf(*a.Error)
}

// unreadable is the answer for a line that was not sent; it looks like the server's.
func unreadable(err error) lineAnswer {
	var problem api.Problem
	_ = json.Unmarshal(serve.Problem(err), &problem) // Problem returns valid JSON
	return lineAnswer{api.BulkAnswer{Status: "error", Error: &problem}}
}
