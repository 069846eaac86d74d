package projections_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/projections"
)

// choosy is an embedder that does not take some texts, until it is told to.
type choosy struct {
	embedding.Builtin
	tame *atomic.Bool
}

func (c choosy) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	isWild := func(text string) bool { return strings.Contains(text, "wild") }
	if !c.tame.Load() && slices.ContainsFunc(texts, isWild) {
		return nil, embedding.ErrText
	}
	return c.Builtin.Embed(ctx, texts, kind)
}

// What lies in quarantine, or was skipped, is behind what the projection has read: taking it in later moves no
// checkpoint. It is found by its meaning all the same, in this process and in others that hold sketches.
func TestWhatIsTakenInLaterIsFoundWhereverSketchesAreHeld(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		tame := &atomic.Bool{}
		w, _ := served(t, db, projections.Settings{Embedder: choosy{tame: tame}})
		meaning := projections.Background{Log: w.log}
		readers := []*world{w}
		if db.Engine == database.Postgres {
			readers = append(readers, w.inAnotherProcess())
		}
		finds := func(what string, want ...string) {
			t.Helper()
			for _, reader := range readers {
				reader.comesToFind(domain.Search{
					Vector: w.embed(embedding.Query, "paying once more")[0], MinScore: new(float64),
					Context: domain.Context{Given: true, Entities: []domain.Entity{"team:pay"}},
				}, want...)
			}
			if t.Failed() {
				t.Fatalf("%s: not found by all %d", what, len(readers))
			}
		}

		w.remember("good", "retry the payment call", "team:pay")
		w.remember("left", "wild payments come in threes", "team:pay")
		w.remember("passed", "wild cards are declined", "team:pay")
		w.reads(3)
		for _, reader := range readers {
			reader.holdSketches()
		}
		finds("at first", "good")

		must(meaning.Skip(t.Context(), "meaning", w.by.Tenant, "knowledge:passed"))(t)
		tame.Store(true)
		if done, err := meaning.Replay(t.Context(), "meaning", w.by.Tenant, "knowledge:left"); err != nil || !done.Released {
			t.Fatalf("got %+v, %v, want it to be released", done, err)
		}
		finds("replayed", "good", "left")

		noError(t, meaning.ReplayAll(t.Context(), "meaning", w.by.Tenant))
		w.reads(3)
		finds("read again", "good", "left", "passed")
	})
}

// reads waits until the projection of vectors has read the log so far, whatever it passes over.
func (w *world) reads(position int64) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := w.log.Await(ctx, w.base.Meaning().Name(), w.by.Tenant, position); err != nil {
		w.t.Fatal(fmt.Errorf("wait for position %d: %w", position, err))
	}
}
