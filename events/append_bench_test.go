package events_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// blank is an inline projection of items that are all new: it asks the database nothing, so that a
// benchmark measures the log.
type blank struct{}

func (blank) Load(ctx context.Context, tx bun.IDB, _ string, _ []domain.Command, first database.Batch) (events.Stage, error) {
	return blankStage{tx, map[string]*domain.Knowledge{}}, first.Run(ctx, tx)
}

type blankStage struct {
	tx    bun.IDB
	items map[string]*domain.Knowledge
}

func (s blankStage) Knowledge(id string) *domain.Knowledge {
	if s.items[id] == nil {
		s.items[id] = &domain.Knowledge{ID: id}
	}
	return s.items[id]
}

func (blankStage) Holder(string) string                             { return "" }
func (blankStage) ItemsSaying(domain.Text, []domain.Scope) []string { return nil }

func (s blankStage) Apply(event domain.Event) error {
	return s.Knowledge(event.Stream[len("knowledge:"):]).Evolve(event.Fact, event.Metadata(), domain.DefaultConfidence())
}

func (blankStage) Complete() error { return nil }

func (s blankStage) Save(ctx context.Context, inserts *database.Script) error {
	return inserts.Run(ctx, s.tx)
}

// BenchmarkAppend measures durable appends: alone, from 64 callers at once, and in bulk.
func BenchmarkAppend(b *testing.B) {
	for engine, url := range map[string]string{"sqlite": databasetest.SQLite(b), "postgres": databasetest.Postgres(b)} {
		db, err := database.Open(b.Context(), url, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = db.Close() })
		if err := database.Migrate(b.Context(), db); err != nil {
			b.Fatal(err)
		}
		l := events.NewLog(db, blank{}, events.Options{})
		b.Cleanup(func() { _ = l.Close(context.Background()) })
		var n atomic.Int64
		next := func() domain.Submission {
			by := domain.OpenPrincipal()
			return domain.Submission{By: by, Command: domain.Remember{By: by, ID: fmt.Sprint("k-", n.Add(1)), Knowledge: domain.Remembered{
				Type: domain.Strategy, ContextType: domain.Memory, Polarity: domain.Positive, Media: domain.MediaText,
				Scopes: []domain.Scope{"team:pay", "user:default"}, Owner: "user:default",
				Text: domain.Text{Task: "calling the payment service", Content: fmt.Sprintf(
					"Retry number %d of the payment call with exponential backoff and jitter, because the gateway sheds load in bursts", n.Load())},
			}}}
		}
		b.Run(engine+"/alone", func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Submit(b.Context(), next()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
		b.Run(engine+"/64", func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := l.Submit(b.Context(), next()); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
		b.Run(engine+"/bulk", func(b *testing.B) {
			const bulk = 512
			for b.Loop() {
				submissions := make([]domain.Submission, bulk)
				for i := range submissions {
					submissions[i] = next()
				}
				for _, r := range l.SubmitAll(b.Context(), submissions) {
					if r.Err != nil {
						b.Fatal(r.Err)
					}
				}
			}
			b.ReportMetric(float64(b.N*bulk)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
