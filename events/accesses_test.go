package events_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
)

func access(at time.Time, items ...string) domain.Access {
	a := domain.Access{Tenant: "acme", At: at, Kind: "search", Status: 200, Actor: "agent:a", RequestID: "r"}
	for _, id := range items {
		a.Items = append(a.Items, domain.Retrieved{ID: id, Score: 0.5})
	}
	return a
}

// recorded runs until everything that was taken is written.
func recorded(t *testing.T, a *events.Accesses) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	a.Run(ctx)
}

func rowsOf(t *testing.T, db *database.DB) (rows int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM accesses").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestAccessesAreWrittenInTheBackgroundToTheLast(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		a := events.NewAccesses(newLog(t, db, events.Options{}), events.AccessOptions{Logger: databasetest.Log(t)})
		for i := range 1500 {
			a.Record(access(time.Now(), fmt.Sprint("k-", i), "it's"))
		}
		a.Record(domain.Access{Tenant: "acme", At: time.Now(), Kind: domain.Denied, Route: "GET /v1/x", Status: 403})
		recorded(t, a)
		if got := rowsOf(t, db); got != 3001 {
			t.Errorf("%d rows, want 3001", got)
		}
	})
}

func TestWhatComesTooFastIsDroppedAndCounted(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		registry := prometheus.NewRegistry()
		a := events.NewAccesses(newLog(t, db, events.Options{}), events.AccessOptions{Registerer: registry, Logger: databasetest.Log(t)})
		items := make([]string, 100)
		for i := range items {
			items[i] = fmt.Sprint("k-", i)
		}
		for range 250 { // nobody writes yet
			a.Record(access(time.Now(), items...))
		}
		recorded(t, a)
		// On a slow machine, time is over before all that waited are written.
		written, dropped := rowsOf(t, db), counted(t, registry, "annals_accesses_dropped_total")
		if dropped < 5000 || written+int(dropped) != 25_000 {
			t.Errorf("%d rows written and %v dropped, want at least 5000 dropped of 25000", written, dropped)
		}
	})
}

func TestAccessesAreKeptForSoLong(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 1, 1)
		now := time.Now()
		writer := events.NewAccesses(l, events.AccessOptions{Logger: databasetest.Log(t)})
		for i := range 1200 {
			writer.Record(access(now.Add(-2*time.Hour), fmt.Sprint("old-", i)))
		}
		writer.Record(access(now.Add(-30*time.Minute), "new"))
		recorded(t, writer)
		sweeper := events.NewAccesses(l, events.AccessOptions{Keep: time.Hour, Logger: databasetest.Log(t)})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			sweeper.Run(ctx)
		}()
		databasetest.Until(t, "one access is left", func() bool { return rowsOf(t, db) == 1 })
		stop()
		<-ended
	})
}

func TestRetrievalsAreSampled(t *testing.T) {
	t.Parallel()
	for word, test := range map[string]struct{ least, most int }{
		"": {0, 0}, events.RecordNone: {0, 0}, events.RecordAll: {10_000, 10_000}, events.RecordSampled: {700, 1300},
	} {
		a, wanted := events.NewAccesses(nil, events.AccessOptions{Retrievals: word}), 0
		for range 10_000 {
			if a.Wants() {
				wanted++
			}
		}
		if wanted < test.least || wanted > test.most {
			t.Errorf("%q: %d of 10000", word, wanted)
		}
	}
}

func counted(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}
