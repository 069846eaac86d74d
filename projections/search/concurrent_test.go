package search_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestSearchesFindWhatStaysWhileEverythingElseHappens(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Base.Indexer.MaxChanges = 0 // words move all the time
		w.Fill(NewCorpus(1), 40)
		w.Remember("stays", "kohlrabi is a vegetable", "team:pay")
		w.Understand()

		readers, searches := 20, 15
		if testing.Short() {
			readers, searches = 4, 8
		}
		ctx, stop := context.WithCancel(t.Context())
		var reading, writing sync.WaitGroup
		for _, write := range []func(*World, int){revisesWhatStays, remembersMore, movesOn} {
			writing.Go(func() {
				for round := 0; ctx.Err() == nil; round++ {
					write(w, round)
				}
			})
		}
		for reader := range readers {
			reading.Go(func() {
				for range searches {
					looks(w, reader)
				}
			})
		}
		reading.Wait()
		stop()
		writing.Wait()
	})
}

// looks is what one reader does again and again.
func looks(w *World, reader int) {
	s := domain.Search{By: w.By, Text: "kohlrabi", MinScore: new(float64), Limit: 100}
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
		w.T.Error(err)
		return
	}
	answer, err := w.Base.Searcher.Search(w.T.Context(), s)
	if err != nil {
		w.T.Error(err)
		return
	}
	for _, hit := range answer.Hits {
		if hit.ID == "stays" {
			if hit.Lexical < 0.3 {
				w.T.Errorf("found by its words with %.3f", hit.Lexical)
			}
			return
		}
	}
	w.T.Errorf("not found by reader %d among %d", reader, len(answer.Hits))
}

func revisesWhatStays(w *World, round int) {
	content := fmt.Sprint("kohlrabi is a vegetable, whatever happens, ", round)
	target := domain.Target{By: w.By, ID: "stays"}
	scopes := []domain.Scope{"team:pay", Scopes[round%2]}
	for _, command := range []domain.Command{
		domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
		domain.Revise{Target: target, Scopes: scopes},
		domain.GiveFeedback{Target: target, Verdict: domain.Helpful, TraceID: fmt.Sprint(round)},
	} {
		if _, err := w.Log.Submit(w.T.Context(), domain.Submission{Command: command, By: w.By}); err != nil {
			w.T.Error(err)
		}
	}
}

func remembersMore(w *World, round int) {
	id := fmt.Sprint("more", round)
	command, err := domain.Remember{By: w.By, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Tool}, Owner: "user:alice", Scopes: []domain.Scope{"team:pay"},
		Text: domain.Text{Content: "another vegetable " + id},
	}}.Complete()
	if err != nil {
		w.T.Error(err)
	}
	for _, command := range []domain.Command{command, domain.Delete{Target: domain.Target{By: w.By, ID: id}}} {
		if _, err := w.Log.Submit(w.T.Context(), domain.Submission{Command: command, By: w.By}); err != nil {
			w.T.Error(err)
		}
	}
}

// movesOn is what happens in the background.
func movesOn(w *World, _ int) {
	Report(w.T, w.Follow())
	err := w.Base.Indexer.IndexWords(w.T.Context())
	Report(w.T, err)
}
