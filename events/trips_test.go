package events_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
)

// An append costs two round trips of its own: BEGIN, the lock, the head and earlier requests; the
// inserts and COMMIT. The projection loads new items with the first, and takes one more to load votes.
func TestAnAppendCostsTheSameRoundTripsForOneCommandAndForMany(t *testing.T) {
	t.Parallel()
	near := databasetest.Open(t, databasetest.Migrated(t, database.Postgres))
	inline(t, near)                                                   // makes its tables
	proxy := databasetest.NewProxy(t, databasetest.LetServe(t, near)) // where whose rows are seen is said, too
	l := newLog(t, databasetest.Open(t, proxy.URL), events.Options{})
	logtest.Remember(t, l, "acme", 0, 1) // opens the connection

	for _, commands := range []int{1, 300} {
		before := proxy.Trips()
		logtest.Remember(t, l, "acme", 1000*commands, commands)
		if got, want := proxy.Trips()-before, int64(2); got != want {
			t.Errorf("%d new items: got %d round trips, want %d", commands, got, want)
		}
		before = proxy.Trips()
		logtest.Vote(t, l, commands)
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
