package vectors

import (
	"context"
	"sync"

	"github.com/annals-kb/annals/projections/embedding"
)

// vectorBudget is how many bytes of vectors a process keeps in memory.
const vectorBudget = 64 << 20

// vectorCache keeps vectors by tenant and text. Vectors never change, so none is out of date. A full cache evicts at
// random. The zero value is empty. It is safe for concurrent use.
type vectorCache struct {
	Mu      sync.RWMutex
	bytes   int
	Vectors map[string]map[Hash][]float32
}

// Cosines compares the vectors of pieces with the question's, by the hash of their text. It reads those that are not
// in memory; erased ones have none. It keeps what it reads: the tenant's sketches are in memory, so the process learns
// of erasures.
func (m *Projection) Cosines(ctx context.Context, q Question, pieces []NearPiece) (map[Hash]float64, error) {
	cosines := make(map[Hash]float64, len(pieces))
	missing := m.Cache.Vectors.compare(q, pieces, cosines)
	if len(missing) == 0 {
		return cosines, nil
	}
	stored, err := m.stored(ctx, q.search.By.Tenant, missing)
	if err != nil {
		return nil, err
	}
	m.Cache.Vectors.keep(q.search.By.Tenant, stored)
	q.compare(stored, cosines)
	return cosines, nil
}

// compare adds the cosines of the cached vectors, and returns the texts of the others, each once.
func (c *vectorCache) compare(q Question, pieces []NearPiece, cosines map[Hash]float64) (missing []Hash) {
	found := make(map[Hash][]float32, len(pieces))
	c.Mu.RLock()
	vectors := c.Vectors[q.search.By.Tenant]
	for _, p := range pieces {
		if _, seen := found[p.Hash]; seen {
			continue
		}
		vector := vectors[p.Hash]
		found[p.Hash] = vector
		if vector == nil {
			missing = append(missing, p.Hash)
		}
	}
	c.Mu.RUnlock()
	q.compare(found, cosines)
	return missing
}

// compare adds the cosines of vectors; a nil vector has none.
func (q Question) compare(vectors map[Hash][]float32, cosines map[Hash]float64) {
	for text, vector := range vectors {
		if vector != nil {
			cosines[text] = embedding.Cosine(vector, q.vector)
		}
	}
}

func (c *vectorCache) keep(tenant string, vectors map[Hash][]float32) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.Vectors == nil {
		c.Vectors = map[string]map[Hash][]float32{}
	}
	if c.Vectors[tenant] == nil {
		c.Vectors[tenant] = map[Hash][]float32{}
	}
	for text, vector := range vectors {
		if _, known := c.Vectors[tenant][text]; !known {
			c.Vectors[tenant][text] = vector
			c.bytes += 4 * len(vector)
		}
	}
	for tenant, known := range c.Vectors {
		for text := range known {
			if c.bytes <= vectorBudget {
				return
			}
			c.drop(tenant, text)
		}
	}
}

func (c *vectorCache) drop(tenant string, text Hash) {
	c.bytes -= 4 * len(c.Vectors[tenant][text])
	delete(c.Vectors[tenant], text)
}

// forget drops the vectors of texts that may have been erased.
func (c *vectorCache) forget(tenant string, texts []Hash) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for _, text := range texts {
		c.drop(tenant, text)
	}
}

// forgetAll drops a tenant's vectors.
func (c *vectorCache) forgetAll(tenant string) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for text := range c.Vectors[tenant] {
		c.drop(tenant, text)
	}
	delete(c.Vectors, tenant)
}
