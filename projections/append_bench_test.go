package projections_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
)

// BenchmarkRemember measures durable appends with their inline projection, 64 at a time.
func BenchmarkRemember(b *testing.B) {
	for engine, url := range map[string]string{"sqlite": databasetest.SQLite(b), "postgres": databasetest.Postgres(b)} {
		var n atomic.Int64 // the database outlives the runs that find out how long to run
		b.Run(engine, func(b *testing.B) {
			benchmarkRemember(b, databasetest.Open(b, url), &n)
		})
	}
}

func benchmarkRemember(b *testing.B, db *database.DB, n *atomic.Int64) {
	noError(b, database.Migrate(b.Context(), db))
	base := must(projections.Open(b.Context(), db, projections.Settings{}))(b)
	log := follow.NewLog(db, base, events.Options{})
	defer func() {
		if err := log.Close(b.Context()); err != nil {
			b.Error(err)
		}
	}()
	by := domain.OpenPrincipal()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			command, err := domain.Remember{By: by, ID: fmt.Sprint("item-", i), Knowledge: domain.Remembered{
				Type: domain.Strategy, Scopes: []domain.Scope{"team:pay", "user:default"},
				Text: domain.Text{Task: "calling the payment service", Content: fmt.Sprintf(
					"Retry number %d of the payment call with exponential backoff and jitter, because the gateway sheds load in "+
						"bursts", i)},
			}}.Complete()
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := log.Submit(b.Context(), domain.Submission{Command: command, By: by}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
}
