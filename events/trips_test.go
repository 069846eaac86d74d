package events_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// An append costs two round trips of its own: BEGIN, the lock, the head and earlier requests; the
// inserts and COMMIT. A replay costs one to open, and one more if somebody asks for the holder of a URI.
func TestAnAppendCostsTheSameRoundTripsForOneCommandAndForMany(t *testing.T) {
	t.Parallel()
	near := databasetest.Open(t, databasetest.Postgres(t))
	if err := near.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy := databasetest.NewProxy(t, databasetest.LetServe(t, near)) // where whose rows are seen is said, too
	l := newLog(t, databasetest.Open(t, proxy.URL), events.Options{})
	remember(t, l, "acme", 0, 1) // opens the connection

	for _, commands := range []int{1, 300} {
		before := proxy.Trips()
		remember(t, l, "acme", 1000*commands, commands)
		if got, want := proxy.Trips()-before, int64(2+2); got != want {
			t.Errorf("%d new items: got %d round trips, want %d", commands, got, want)
		}
		before = proxy.Trips()
		vote(t, l, commands)
		if got, want := proxy.Trips()-before, int64(2+1); got != want {
			t.Errorf("%d votes: got %d round trips, want %d", commands, got, want)
		}
		before = proxy.Trips()
		turn(t, l, commands)
		if got, want := proxy.Trips()-before, int64(2); got != want {
			t.Errorf("%d events of other streams: got %d round trips, want %d", commands, got, want)
		}
	}
}

// turn lets something happen to so many things other than knowledge.
func turn(t *testing.T, l *events.Log, streams int) {
	t.Helper()
	by := domain.OpenPrincipal()
	by.Tenant = "acme"
	var submissions []domain.Submission
	for i := range streams {
		submissions = append(submissions, domain.Submission{By: by, Command: domain.RecordProjection{
			Projection: fmt.Sprint("p-", i), Facts: []domain.Fact{domain.ProjectionStarted{Version: streams}},
		}})
	}
	for _, r := range l.SubmitAll(t.Context(), submissions) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

// vote lets so many requests vote for the first item, each with an idempotency key.
func vote(t *testing.T, l *events.Log, votes int) {
	t.Helper()
	by := domain.OpenPrincipal()
	by.Tenant = "acme"
	var submissions []domain.Submission
	for i := range votes {
		key := fmt.Sprint(votes, "#", i)
		submissions = append(submissions, domain.Submission{
			By: by, Request: &domain.Request{Key: key},
			Command: domain.GiveFeedback{Target: domain.Target{By: by, ID: "k-0"}, Verdict: domain.Helpful, TraceID: key, Query: "?"},
		})
	}
	for _, r := range l.SubmitAll(t.Context(), submissions) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}
