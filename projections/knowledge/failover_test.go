package knowledge_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// A primary is killed under load and its synchronous standby promoted. Then the former primary is started again, as
// the first server of the URL. What was acknowledged is there, and writing goes on.
func TestNothingAcknowledgedIsLostInAFailover(t *testing.T) {
	t.Parallel()
	const writers, before, after = 4, 40, 40
	pair := databasetest.NewPair(t)
	db := databasetest.Open(t, pair.URL)
	NoError(t, database.Migrate(t.Context(), db))
	w := NewWorld(t, db, projections.Settings{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()

	promoted := make(chan struct{})
	var acknowledged sync.Map // position by id
	var count atomic.Int64
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				command, err := domain.Remember{By: w.By, ID: fmt.Sprintf("item-%d-%d", writer, n), Knowledge: domain.Remembered{
					Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"org:acme"},
					Text: domain.Text{Content: "retry with jitter"},
				}}.Complete()
				if err != nil {
					t.Error(err)
					return
				}
				receipt, err := w.Log.Submit(ctx, domain.Submission{Command: command, By: w.By})
				if err != nil { // the primary is away
					select {
					case <-promoted:
					case <-ctx.Done():
					}
					continue
				}
				acknowledged.Store(command.ID, receipt.Position)
				count.Add(1)
			}
		})
	}
	reach := func(wanted int64) {
		t.Helper()
		databasetest.Until(t, fmt.Sprint(wanted, " writes are acknowledged"), func() bool { return count.Load() >= wanted })
	}
	defer writing.Wait()
	defer stop()
	reach(before)
	pair.KillPrimary()
	pair.Promote()
	close(promoted)
	reach(count.Load() + after)
	pair.Return()
	for range 3 { // new sessions
		pair.EndSessions()
		reach(count.Load() + after)
	}
	stop()
	writing.Wait()

	positions := map[int64]string{}
	for _, event := range logtest.All(t, w.Log, w.By.Tenant) { // an error if a position is missing
		positions[event.Position] = event.Stream
	}
	acknowledged.Range(func(id, position any) bool {
		if got, want := positions[position.(int64)], domain.KnowledgeStream(id.(string)); got != want {
			t.Errorf("at position %d: got %q, want %q, which was acknowledged", position, got, want)
		}
		if _, err := w.Base.Browser.Find(t.Context(), w.By.Tenant, id.(string)); err != nil {
			t.Errorf("%s was acknowledged: %v", id, err)
		}
		return true
	})
}
