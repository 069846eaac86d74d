package events_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
)

func TestAHistogramCountsTheEventsOfEachBucket(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, start := history(t, db)
		at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
		for name, test := range map[string]struct {
			query   domain.EventQuery
			buckets int
			want    string // count@first of each bucket
		}{
			"all":            {domain.EventQuery{}, 1, "9@1"},
			"from and to":    {domain.EventQuery{From: at(1), To: at(10)}, 3, "3@1 3@4 3@7"},
			"empty buckets":  {domain.EventQuery{From: at(-2), To: at(13)}, 5, "0@0 3@1 3@4 3@7 0@0"},
			"a short time":   {domain.EventQuery{From: at(4), To: at(4).Add(2 * time.Microsecond)}, 60, "1@4 0@0"},
			"before the log": {domain.EventQuery{From: at(-9), To: at(0)}, 2, "0@0 0@0"},
			"after the log":  {domain.EventQuery{From: at(99)}, 2, ""},
			"a name":         {domain.EventQuery{Names: []string{"knowledge.found_helpful"}, From: at(1), To: at(10)}, 3, "0@0 3@4 3@7"},
			"a stream":       {domain.EventQuery{Stream: "knowledge:k-1", From: at(1), To: at(10)}, 3, "1@2 1@5 2@7"},
			"an actor":       {domain.EventQuery{Actor: "user:mia", From: at(1), To: at(10)}, 9, "0@0 0@0 0@0 1@4 0@0 1@6 1@7 0@0 1@9"},
			"nobody":         {domain.EventQuery{Actor: "user:nobody", From: at(1), To: at(10)}, 2, "0@0 0@0"},
			"another tenant": {domain.EventQuery{Tenant: "other"}, 2, ""},
			"many years":     {domain.EventQuery{From: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), To: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, 2, "9@1 0@0"},
		} {
			if test.query.Tenant == "" {
				test.query.Tenant = "acme"
			}
			h, err := l.Finder.Histogram(t.Context(), test.query, test.buckets)
			if err != nil || h.Estimated {
				t.Fatalf("%s: %v, estimated %v", name, err, h.Estimated)
			}
			if diff := cmp.Diff(test.want, counts(h)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			for i := 1; i < len(h.Buckets); i++ {
				if !h.Buckets[i].From.Equal(h.Buckets[i-1].To) {
					t.Errorf("%s: a gap after bucket %d", name, i-1)
				}
			}
		}
		h, err := l.Finder.Histogram(t.Context(), domain.EventQuery{Tenant: "acme"}, 4)
		if err != nil || !h.Buckets[0].From.Equal(at(1)) || !h.Buckets[3].To.Equal(at(9).Add(time.Microsecond)) {
			t.Errorf("the whole log: got %v, %v", h, err)
		}
	})
}

func counts(h domain.EventHistogram) (all string) {
	for i, b := range h.Buckets {
		if i > 0 {
			all += " "
		}
		all += fmt.Sprintf("%d@%d", b.Count, b.First)
	}
	return all
}

func TestAHistogramOfTooManyPositionsIsAnEstimate(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l := newLog(t, db, events.Options{})
		logtest.Remember(t, l, "acme", 0, 1)
		kind := map[database.Engine]string{database.Postgres: "uuid", database.SQLite: "text"}[db.Engine]
		databasetest.Tamper(t, db, `
			INSERT INTO events (tenant, position, event_id, stream, version, name, schema_version, recorded_at, actor,
				authentication, data, hash)
			WITH RECURSIVE more (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n <= 20000)
			SELECT tenant, n, CAST('0198c0de-0000-7000-8000-' || substr(CAST(1000000000000 + n AS text), 2) AS `+kind+`),
				stream, n, name, schema_version, recorded_at, CASE WHEN n % 5 = 0 THEN 'user:mia' ELSE 'user:bo' END,
				authentication, data, hash
			FROM events
			CROSS JOIN more`)
		logtest.Remember(t, l, "acme", 1, 1) // at position 20,002
		for name, test := range map[string]struct {
			query     domain.EventQuery
			estimated bool
			low, high int64
		}{
			"every event":    {domain.EventQuery{}, false, 20_002, 20_002},
			"a filter":       {domain.EventQuery{Actor: "user:mia"}, true, 3_600, 4_400},
			"a small stream": {domain.EventQuery{Stream: "knowledge:k-1"}, false, 1, 1},
			"a large stream": {domain.EventQuery{Stream: "knowledge:k-0"}, true, 19_000, 20_001},
		} {
			test.query.Tenant = "acme"
			h, err := l.Finder.Histogram(t.Context(), test.query, 10)
			if err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for _, b := range h.Buckets {
				sum += b.Count
			}
			if h.Estimated != test.estimated || sum < test.low || sum > test.high {
				t.Errorf("%s: got %d, estimated %v, want %d to %d, %v", name, sum, h.Estimated, test.low, test.high, test.estimated)
			}
		}
	})
}
