package projections_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/projections"
)

// inAnotherProcess is the same tenant in another process, which reads and embeds nothing.
func (w *world) inAnotherProcess() *world {
	w.t.Helper()
	other := *w
	var err error
	if other.base, err = projections.Open(w.t.Context(), w.db, projections.Settings{}); err != nil {
		w.t.Fatal(err)
	}
	return &other
}

// comesToFind searches until it finds just these, or some seconds have passed.
func (w *world) comesToFind(s domain.Search, want ...string) {
	w.t.Helper()
	var got []string
	for range 100 {
		got = w.find(s)
		slices.Sort(got)
		if slices.Equal(got, want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.t.Errorf("found %v, want %v", got, want)
}

func TestSketchesInMemoryFollowWhatOtherProcessesEmbed(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		if db.Engine == database.SQLite { // there is no other process
			return
		}
		w := newWorld(t, db, projections.Settings{})
		for _, more := range []int{0, 600} { // which is more than a search reads by the way
			w.in(fmt.Sprint("tenant-", more)).isFollowed(more)
		}
	})
}

func (w *world) isFollowed(more int) {
	w.remember("payment", "retry the payment call", "team:pay")
	w.remember("garden", "water the tomatoes", "team:pay")
	w.understand()
	other := w.inAnotherProcess()
	other.holdSketches()
	s := domain.Search{
		Vector: w.embed(embedding.Query, "paying once more")[0], MinScore: new(float64),
		Context: domain.Context{Given: true, Entities: []domain.Entity{"team:pay"}},
	}
	other.comesToFind(s, "garden", "payment")
	w.remember("new", "a card was declined", "team:pay")
	w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "garden"}})
	content := "pay again when the call failed"
	w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "payment"}, Changes: domain.Revised{Content: &content}})
	w.fillWith(more)
	w.understand()
	other.comesToFind(s, "new", "payment")
	other.holdSketches()
	other.comesToFind(s, "new", "payment")
}

// fillWith remembers as many items of somebody else's.
func (w *world) fillWith(n int) {
	w.t.Helper()
	w.fillFrom(0, n)
}

// fillFrom is fillWith for items by their numbers.
func (w *world) fillFrom(first, n int) {
	w.t.Helper()
	var commands []domain.Command
	for i := first; i < first+n; i++ {
		commands = append(commands, w.knowing(fmt.Sprint("more-", i), domain.Remembered{
			Type: domain.Strategy, Owner: "org:acme", Scopes: []domain.Scope{"org:acme"},
			Text: domain.Text{Content: fmt.Sprint("item ", i)},
		}))
	}
	w.submitAll(commands...)
}
