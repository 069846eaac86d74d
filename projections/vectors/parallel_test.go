package vectors_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// counting is the built-in embedder, which takes a while and counts how many texts it embeds at the same time.
type counting struct {
	embedding.Builtin
	now, most *atomic.Int64
}

func (c counting) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if kind == embedding.Document {
		now := c.now.Add(1)
		defer c.now.Add(-1)
		for most := c.most.Load(); now > most; most = c.most.Load() {
			if c.most.CompareAndSwap(most, now) {
				break
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return c.Builtin.Embed(ctx, texts, kind)
}

func TestTextsAreEmbeddedOnAllProcessorsWhileNobodySearches(t *testing.T) {
	t.Parallel()
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("there is one processor")
	}
	embedder := counting{now: new(atomic.Int64), most: new(atomic.Int64)}
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := NewWorld(t, db, projections.Settings{Embedder: embedder})
	for _, searched := range []bool{false, true} {
		embedder.most.Store(0)
		for i := range 12 {
			w.Remember(fmt.Sprintf("item-%v-%d", searched, i), fmt.Sprintf("retry call %d of %v", i, searched), "team:pay")
		}
		ctx, stop := context.WithCancel(t.Context())
		var searching sync.WaitGroup
		if searched {
			s := Must(domain.Search{By: w.By, Text: "which call"}.Complete())(t)
			_, _ = w.Base.Searcher.Search(ctx, s)
			searching.Go(func() {
				for ctx.Err() == nil {
					_, _ = w.Base.Searcher.Search(ctx, s)
				}
			})
		}
		w.Understand()
		stop()
		searching.Wait()
		if most := embedder.most.Load(); (most > 1) == searched || most < 1 || most > int64(runtime.GOMAXPROCS(0)) {
			t.Errorf("searched %v: %d texts were embedded at the same time", searched, most)
		}
		if found := w.Nearest("retry call", domain.Context{}); len(found) == 0 {
			t.Error("nothing is found")
		}
	}
}
