package projections_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections"
)

func TestSearchesFindWhatStaysWhileEverythingElseHappens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base.Indexer.MaxChanges = 0 // words move all the time
		w.fill(newCorpus(1), 40)
		w.remember("stays", "kohlrabi is a vegetable", "team:pay")
		w.understand()

		var searches atomic.Int64
		done := make(chan struct{})
		var readers sync.WaitGroup
		for reader := range 20 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					w.looks(reader)
					searches.Add(1)
				}
			})
		}
		var writers sync.WaitGroup
		for _, write := range []func(round int){w.revisesWhatStays, w.remembersMore, w.movesOn} {
			writers.Go(func() {
				for round := range 15 {
					write(round)
				}
			})
		}
		writers.Wait()
		close(done)
		readers.Wait()
		if searches.Load() < 20 {
			t.Errorf("%d searches: too few to tell anything", searches.Load())
		}
	})
}

// looks is what one reader does again and again.
func (w *world) looks(reader int) {
	s := domain.Search{By: w.by, Text: "kohlrabi", MinScore: new(float64), Limit: 100}
	switch reader % 4 {
	case 1:
		s.Context = domain.Context{Given: true, Entities: []domain.Entity{"team:pay", "user:alice"}}
	case 2:
		s.Filter.Types = []domain.Type{domain.Strategy}
	case 3:
		s.Explain = true
	}
	s, err := s.Complete()
	if err != nil {
		w.t.Error(err)
		return
	}
	answer, err := w.base.Searcher.Search(w.t.Context(), s)
	if err != nil {
		w.t.Error(err)
		return
	}
	for _, hit := range answer.Hits {
		if hit.ID == "stays" {
			if hit.Lexical < 0.3 {
				w.t.Errorf("found by its words with %.3f", hit.Lexical)
			}
			return
		}
	}
	w.t.Errorf("not found by reader %d among %d", reader, len(answer.Hits))
}

func (w *world) revisesWhatStays(round int) {
	content := fmt.Sprint("kohlrabi is a vegetable, whatever happens, ", round)
	target := domain.Target{By: w.by, ID: "stays"}
	scopes := []domain.Scope{"team:pay", scopes[round%2]}
	for _, command := range []domain.Command{
		domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
		domain.Revise{Target: target, Scopes: scopes},
		domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: fmt.Sprint(round)},
	} {
		if _, err := w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: w.by}); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *world) remembersMore(round int) {
	id := fmt.Sprint("more", round)
	command, err := domain.Remember{By: w.by, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Tool}, Owner: "user:alice", Scopes: []domain.Scope{"team:pay"},
		Text: domain.Text{Content: "another vegetable " + id},
	}}.Complete()
	if err != nil {
		w.t.Error(err)
	}
	for _, command := range []domain.Command{command, domain.Delete{Target: domain.Target{By: w.by, ID: id}}} {
		if _, err := w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: w.by}); err != nil {
			w.t.Error(err)
		}
	}
}

// movesOn is what happens in the background.
func (w *world) movesOn(int) {
	report(w.t, w.follow())
	err := w.base.Indexer.IndexWords(w.t.Context())
	report(w.t, err)
}

// A primary is killed under load and its synchronous standby promoted: what was acknowledged is there, and writing
// goes on.
func TestNothingAcknowledgedIsLostInAFailover(t *testing.T) {
	t.Parallel()
	const writers, before, after = 4, 40, 40
	pair := databasetest.NewPair(t)
	db := databasetest.Open(t, pair.URL)
	noError(t, database.Migrate(t.Context(), db))
	w := newWorld(t, db, projections.Settings{})
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()

	var acknowledged sync.Map // position by id
	var count atomic.Int64
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				command, err := domain.Remember{By: w.by, ID: fmt.Sprintf("item-%d-%d", writer, n), Knowledge: domain.Remembered{
					Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"org:acme"},
					Text: domain.Text{Content: "retry with jitter"},
				}}.Complete()
				if err != nil {
					t.Error(err)
					return
				}
				receipt, err := w.log.Submit(ctx, domain.Submission{Command: command, By: w.by})
				if err != nil { // the primary is away
					time.Sleep(20 * time.Millisecond)
					continue
				}
				acknowledged.Store(command.ID, receipt.Position)
				count.Add(1)
			}
		})
	}
	reach := func(wanted int64) {
		t.Helper()
		for tick := time.Tick(5 * time.Millisecond); count.Load() < wanted; {
			select {
			case <-tick:
			case <-ctx.Done():
				t.Fatalf("%d writes were acknowledged, want %d", count.Load(), wanted)
			}
		}
	}
	defer writing.Wait()
	defer stop()
	reach(before)
	pair.KillPrimary()
	pair.Promote()
	reach(count.Load() + after)
	stop()
	writing.Wait()

	positions := map[int64]string{}
	for _, event := range logtest.All(t, w.log, w.by.Tenant) { // an error if a position is missing
		positions[event.Position] = event.Stream
	}
	acknowledged.Range(func(id, position any) bool {
		if got, want := positions[position.(int64)], domain.KnowledgeStream(id.(string)); got != want {
			t.Errorf("at position %d: got %q, want %q, which was acknowledged", position, got, want)
		}
		if _, err := w.base.Browser.Find(t.Context(), w.by.Tenant, id.(string)); err != nil {
			t.Errorf("%s was acknowledged: %v", id, err)
		}
		return true
	})
}
