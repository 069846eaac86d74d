package events_test

import (
	"errors"
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

// history is a log with three items and votes on them: the event at position n was recorded n minutes
// after start.
func history(t *testing.T, db *database.DB) (l *events.Log, start time.Time) {
	t.Helper()
	start = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	minutes := 0
	l = newLog(t, db, events.Options{Clock: func() time.Time {
		minutes++
		return start.Add(time.Duration(minutes) * time.Minute)
	}})
	for i := range 3 {
		logtest.Remember(t, l, "acme", i, 1) // positions 1 to 3
	}
	for i := range 6 { // positions 4 to 9, by mia, bo, and bo for mia
		by := domain.Principal{
			Tenant: "acme", Subject: []domain.Entity{"user:mia", "user:bo", "agent:coder"}[i%3],
			OnBehalfOf: []domain.Entity{"", "", "user:mia"}[i%3], Role: domain.Admin, Authentication: "open",
		}
		_, err := l.Submit(t.Context(), domain.Submission{By: by, Command: domain.GiveFeedback{
			Target: domain.Target{By: by, ID: fmt.Sprint("k-", i%2)}, Verdict: domain.Helpful, TraceID: fmt.Sprint(i),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return l, start
}

func TestFindSelectsEvents(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, start := history(t, db)
		at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
		for name, test := range map[string]struct {
			query domain.EventQuery
			want  []int64
		}{
			"all":                  {domain.EventQuery{}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}},
			"newest first":         {domain.EventQuery{Descending: true}, []int64{9, 8, 7, 6, 5, 4, 3, 2, 1}},
			"after":                {domain.EventQuery{After: 7}, []int64{8, 9}},
			"before":               {domain.EventQuery{After: 3, Descending: true}, []int64{2, 1}},
			"one stream":           {domain.EventQuery{Stream: "knowledge:k-1"}, []int64{2, 5, 7, 9}},
			"its newest":           {domain.EventQuery{Stream: "knowledge:k-1", Descending: true, After: 9}, []int64{7, 5, 2}},
			"actor or behalf":      {domain.EventQuery{Actor: "user:mia"}, []int64{4, 6, 7, 9}},
			"names":                {domain.EventQuery{Names: []string{"knowledge.remembered", "knowledge.erased"}}, []int64{1, 2, 3}},
			"from":                 {domain.EventQuery{From: at(8)}, []int64{8, 9}},
			"from between":         {domain.EventQuery{From: at(8).Add(time.Second)}, []int64{9}},
			"to":                   {domain.EventQuery{To: at(3)}, []int64{1, 2}},
			"to, just after":       {domain.EventQuery{To: at(3).Add(time.Microsecond)}, []int64{1, 2, 3}},
			"from to":              {domain.EventQuery{From: at(2), To: at(4)}, []int64{2, 3}},
			"long ago":             {domain.EventQuery{To: at(-1)}, nil},
			"one day":              {domain.EventQuery{From: at(1000)}, nil},
			"everything at once":   {domain.EventQuery{Stream: "knowledge:k-1", Actor: "user:mia", Names: []string{"knowledge.found_helpful"}, From: at(6), To: at(9)}, []int64{7}},
			"nobody":               {domain.EventQuery{Actor: "user:nobody"}, nil},
			"words":                {domain.EventQuery{Words: []string{"knowl", "edge"}}, []int64{1, 2, 3}},
			"words, newest first":  {domain.EventQuery{Words: []string{"knowledge"}, Descending: true}, []int64{3, 2, 1}},
			"words of a stream":    {domain.EventQuery{Words: []string{"knowledge"}, Stream: "knowledge:k-1"}, []int64{2}},
			"words of no event":    {domain.EventQuery{Words: []string{"knowledge", "lunch"}}, nil},
			"no such id":           {domain.EventQuery{EventID: "0198c0de-0000-7000-8000-000000000001"}, nil},
			"no id":                {domain.EventQuery{EventID: "' OR 1=1 --"}, nil},
			"beyond the head":      {domain.EventQuery{After: 100}, nil},
			"beyond, newest first": {domain.EventQuery{After: 100, Descending: true, Limit: 9}, []int64{9, 8, 7, 6, 5, 4, 3, 2, 1}},
		} {
			for _, limit := range []int{0, 1, 2} {
				test.query.Tenant, test.query.Limit = "acme", limit
				if diff := cmp.Diff(test.want, found(t, l, test.query)); diff != "" {
					t.Errorf("%s, %d a page (-want +got):\n%s", name, limit, diff)
				}
			}
		}
	})
}

func TestAPageLooksForWordsInALimitedPartOfTheLog(t *testing.T) {
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
				stream, n, name, schema_version, recorded_at, actor, authentication, data, hash
			FROM events
			CROSS JOIN more`) // without a text
		logtest.Remember(t, l, "acme", 1, 1) // at position 20,002
		for _, test := range []struct {
			descending        bool
			first, next, last int64
		}{
			{false, 1, 20_000, 20_002},
			{true, 20_002, 3, 1},
		} {
			q := domain.EventQuery{Tenant: "acme", Words: []string{"knowledge"}, Descending: test.descending}
			page, next, err := l.Finder.Find(t.Context(), q)
			if err != nil || len(page) != 1 || page[0].Position != test.first || next != test.next {
				t.Fatalf("got %d events and %d, %v, want the one at %d and %d", len(page), next, err, test.first, test.next)
			}
			q.After = next
			if diff := cmp.Diff([]int64{test.last}, found(t, l, q)); diff != "" {
				t.Errorf("the following page (-want +got):\n%s", diff)
			}
		}
	})
}

// found goes through all pages of a query.
func found(t *testing.T, l *events.Log, q domain.EventQuery) []int64 {
	t.Helper()
	var positions []int64
	for {
		page, next, err := l.Finder.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Limit > 0 && len(page) > q.Limit {
			t.Fatalf("got %d events on a page of %d", len(page), q.Limit)
		}
		for _, event := range page {
			positions = append(positions, event.Position)
		}
		if next == 0 {
			return positions
		}
		q.After = next
	}
}

func TestAHoleIsNamedByEveryReader(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, _ := history(t, db)
		databasetest.Tamper(t, db, `DELETE FROM events WHERE position = 5`) // version 2 of k-1
		_, read := l.Reader.Read(t.Context(), "acme", 2, 10)
		_, stream := l.Reader.Stream(t.Context(), "acme", "knowledge:k-1")
		_, _, found := l.Finder.Find(t.Context(), domain.EventQuery{Tenant: "acme", After: 3})
		_, _, backwards := l.Finder.Find(t.Context(), domain.EventQuery{Tenant: "acme", After: 7, Descending: true})
		for name, err := range map[string]error{"Read": read, "Stream": stream, "Find": found, "Find backwards": backwards} {
			if !errors.Is(err, events.ErrHole) {
				t.Errorf("%s: got %v, want %v", name, err, events.ErrHole)
			}
		}
		if got, want := read.Error(), "the log of tenant acme has no position 5"; len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("got %q, want it to begin with %q", got, want)
		}
		if _, err := l.Reader.Stream(t.Context(), "acme", "knowledge:k-0"); err != nil {
			t.Errorf("another stream: %v", err)
		}
		if rest, _, err := l.Finder.Find(t.Context(), domain.EventQuery{Tenant: "acme", After: 5}); err != nil || len(rest) != 4 {
			t.Errorf("found %d events after it (%v), want 4", len(rest), err)
		}
	})
}

func TestOnlyTheNewestOfTheNamedEventsIsRead(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		l, _ := history(t, db)
		databasetest.Tamper(t, db, "UPDATE events SET data = '[]' WHERE position BETWEEN 4 AND 7") // unreadable
		newest, err := l.Reader.NewestOf(t.Context(), "acme",
			[]string{"knowledge:k-0", "knowledge:k-1", "knowledge:k-2"}, []string{domain.FoundHelpful{}.Name()})
		if err != nil || len(newest) != 2 || newest["knowledge:k-0"].Position != 8 || newest["knowledge:k-1"].Position != 9 {
			t.Errorf("got %+v, %v", newest, err)
		}
	})
}
