package extraction_test

import (
	"context"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/extraction"
	"github.com/annals-kb/annals/projections/sessions"
)

func TestAFailedArchiveIsTriedAgainByItself(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		now, broken := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), error(nil)
		extractor := extractorFunc(func(ctx context.Context, c extraction.Conversation) (extraction.Result, error) {
			if broken != nil {
				return extraction.Result{}, broken
			}
			return extraction.BuiltIn{}.Extract(ctx, c)
		})
		w := newWorldWith(t, db, extractor, events.Options{Clock: func() time.Time { return now }})
		retry := func(after time.Duration) (failed int) {
			t.Helper()
			now = now.Add(after)
			for range 2 { // who asks a second time changes nothing
				noError(t, w.worker.RetryDue(t.Context()))
			}
			w.learn()
			stream := must(w.log.State(t.Context(), w.by.Tenant, "session:mia/s1"))(t)
			return stream.State.(domain.Session).Failed
		}
		recorded := func() (failures, requests int) {
			t.Helper()
			page := must(w.log.Read(t.Context(), w.by.Tenant, 0, 500))(t)
			for _, event := range page {
				switch event.Fact.(type) {
				case domain.ExtractionFailed:
					failures++
				case domain.ExtractionRequested:
					requests++
				}
			}
			return failures, requests
		}

		broken = errNever
		task := w.hold("s1", talk("I prefer tabs for indentation."))
		w.hold("s2", talk("I live in Lisbon."))
		w.submit(domain.EraseSession{
			SessionTarget: w.target("s2"),
			ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
		})
		w.learn()
		if got := retry(time.Minute); got != 1 {
			t.Errorf("%d failed", got)
		}
		if failures, requests := recorded(); failures != 2 || requests != 0 {
			t.Errorf("a minute later: %d failures, %d requests", failures, requests)
		}
		broken = errKilled // away, which would be waited for the first time
		retry(10 * time.Minute)
		retry(10 * time.Minute)
		if failures, requests := recorded(); failures != 3 || requests != 1 {
			t.Errorf("later: %d failures, %d requests", failures, requests)
		}
		w.hold("s1", talk("I live in Berlin.")) // keeps nothing that is to be extracted waiting
		broken = nil
		w.learn()
		if got := retry(time.Hour); got != 0 {
			t.Errorf("%d failed in the end", got)
		}
		fact, is := w.settled("s1", 1).(domain.SessionExtracted)
		if !is || fact.Retry != 2 || fact.Task != task || len(fact.Lessons) != 1 || len(w.items()) != 2 {
			t.Errorf("%+v and %d items", w.settled("s1", 1), len(w.items()))
		}
		found, err := (sessions.Sessions{Log: w.log}).Task(t.Context(), w.by, task)
		if err != nil || found.Extracted == nil || found.Failed != nil {
			t.Errorf("task %+v, %v", found, err)
		}
		retry(48 * time.Hour)
		if failures, requests := recorded(); failures != 3 || requests != 2 {
			t.Errorf("in the end: %d failures, %d requests", failures, requests)
		}
		w.read = 0
		w.learn() // from the beginning
		if got := len(w.items()); got != 2 {
			t.Errorf("%d items after reading everything again", got)
		}
	})
}
