package projections_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

// rebuild runs a rebuild to its end and gives the version that is active then.
func (w *world) rebuild() int {
	w.t.Helper()
	rebuilder := projections.NewRebuilder(w.base, w.log)
	defer rebuilder.Close()
	progress := must(rebuilder.Start(w.t.Context(), domain.RebuildOrder{}))(w.t)
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	noError(w.t, rebuilder.Wait(ctx))
	return progress.Version
}

func (w *world) version() int {
	w.t.Helper()
	status := must(w.reader().Status(w.t.Context(), w.by.Tenant))(w.t)
	return status[0].Version
}

func TestARebuildWhileEverybodyWritesLosesNothing(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{Logger: databasetest.Log(t)})
		for i := range 300 {
			w.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d: 重试 payments with backoff", i), "team:pay", "public")
		}
		target := domain.Target{By: w.by, ID: "item-7"}
		w.submit(domain.GiveFeedback{Target: target, Verdict: domain.Harmful, TraceID: "t1"})
		w.submit(domain.ReportStale{Target: target, Reason: "gone"})
		w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "item-8"}})

		stop, written := make(chan struct{}), make(chan int, 8)
		var writers sync.WaitGroup
		for n := range 8 {
			writers.Go(func() {
				i := 0
				for ; ; i++ {
					select {
					case <-stop:
						written <- i
						return
					default:
					}
					w.remember(fmt.Sprintf("live-%d-%d", n, i), "written while the projection was rebuilt", "team:pay")
					w.submit(domain.GiveFeedback{
						Target: domain.Target{By: w.by, ID: fmt.Sprint("item-", i%7)}, Verdict: domain.Helpful,
						TraceID: fmt.Sprintf("trace-%d-%d", n, i),
					})
				}
			})
		}
		first := w.rebuild()
		if got := w.version(); got != first || first != 2 {
			t.Errorf("version %d is active, want the rebuilt one, %d", got, first)
		}
		second := w.rebuild()
		if got := w.version(); got != second || second != 3 {
			t.Errorf("version %d is active, want the one rebuilt again, %d", got, second)
		}
		if back, err := w.base.Rollback(t.Context()); err != nil || back != first {
			t.Errorf("rolled back to version %d (%v), want %d", back, err, first)
		}
		close(stop)
		writers.Wait()
		close(written)
		total := 299 // one was forgotten
		for n := range written {
			total += n
		}
		page, err := w.base.List(t.Context(), domain.List{By: w.by, Limit: 100_000})
		if err != nil || len(page.Items) != total {
			t.Errorf("got %d items after the rollback (%v), want all %d", len(page.Items), err, total)
		}
		k, err := w.base.Find(t.Context(), w.by.Tenant, "item-7")
		if err != nil || k.Stale.Reporters != 1 || k.Harmful != 1 {
			t.Errorf("got %+v (%v), want the vote and the report", k, err)
		}
	})
}
