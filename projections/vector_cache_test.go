package projections_test

import (
	"slices"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/projections/vectors"
)

// vectorsInMemory is how many of the tenant's vectors are in memory.
func (w *world) vectorsInMemory() int {
	var cache *vectors.IndexCache
	switch n := w.base.Meaning().Nearest.(type) {
	case *vectors.PostgresNearest:
		cache = n.Cache
	case *vectors.MemoryNearest:
		cache = n.Cache
	}
	cache.Vectors.Mu.RLock()
	defer cache.Vectors.Mu.RUnlock()
	return len(cache.Vectors.Vectors[w.by.Tenant])
}

func TestVectorsInMemoryAreForgottenWithWhatTheyAreOf(t *testing.T) {
	each(t, func(t *testing.T, here *world) {
		here.remember("payment", "retry the payment call", "team:pay")
		here.remember("garden", "water the tomatoes", "team:pay")
		here.understand()
		worlds := []*world{here}
		if here.db.Engine == database.Postgres {
			worlds = append(worlds, here.inAnotherProcess())
		}
		s := domain.Search{Vector: here.embed(embedding.Query, "paying once more")[0], MinScore: new(float64), Context: pay}
		for _, w := range worlds {
			w.holdSketches()
			before := w.find(s)
			w.holdVectors()
			if got := w.vectorsInMemory(); got != 2 {
				t.Errorf("%d vectors are in memory, want 2", got)
			}
			if after := w.find(s); !slices.Equal(before, after) {
				t.Errorf("found %v by what is in memory, and %v without", after, before)
			}
		}
		here.erase("garden")
		here.understand()
		for _, w := range worlds {
			w.comesToFind(s, "payment")
			w.until("its vector is forgotten", func() bool { w.find(s); return w.vectorsInMemory() == 1 })
		}
	})
}
