package projections

import (
	"sync"

	"github.com/annals-kb/annals/embedding"
)

// vectorBudget is how many bytes of vectors a process keeps in memory, so that a search seldom needs the
// database for them; maxWanted is how many it reads at once of those that searches missed.
const (
	vectorBudget = 64 << 20
	maxWanted    = 500
)

// vectorCache remembers vectors by tenant and text. Vectors never change, so nothing goes stale; when
// it is full, some go at random. The zero value is empty. It is safe for concurrent use.
type vectorCache struct {
	mu      sync.RWMutex
	bytes   int
	vectors map[string]map[hash][]float32
	wanted  map[string]map[hash]bool
}

// compare adds the cosines of the vectors it has, and returns the texts of the others, each once.
func (c *vectorCache) compare(q question, pieces []nearPiece, cosines map[hash]float64) (missing []hash) {
	found := make(map[hash][]float32, len(pieces))
	c.mu.RLock()
	vectors := c.vectors[q.search.By.Tenant]
	for _, p := range pieces {
		if _, seen := found[p.hash]; seen {
			continue
		}
		vector := vectors[p.hash]
		found[p.hash] = vector
		if vector == nil {
			missing = append(missing, p.hash)
		}
	}
	c.mu.RUnlock()
	q.compare(found, cosines)
	return missing
}

// compare adds the cosines of vectors; nil is none.
func (q question) compare(vectors map[hash][]float32, cosines map[hash]float64) {
	for text, vector := range vectors {
		if vector != nil {
			cosines[text] = embedding.Cosine(vector, q.vector)
		}
	}
}

func (c *vectorCache) keep(tenant string, vectors map[hash][]float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vectors == nil {
		c.vectors = map[string]map[hash][]float32{}
	}
	if c.vectors[tenant] == nil {
		c.vectors[tenant] = map[hash][]float32{}
	}
	for text, vector := range vectors {
		if _, known := c.vectors[tenant][text]; !known {
			c.vectors[tenant][text] = vector
			c.bytes += 4 * len(vector)
		}
	}
	for tenant, known := range c.vectors {
		for text := range known {
			if c.bytes <= vectorBudget {
				return
			}
			c.drop(tenant, text)
		}
	}
}

func (c *vectorCache) drop(tenant string, text hash) {
	c.bytes -= 4 * len(c.vectors[tenant][text])
	delete(c.vectors[tenant], text)
}

// forget drops the vectors of texts that may have been erased.
func (c *vectorCache) forget(tenant string, texts []hash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range texts {
		c.drop(tenant, text)
	}
}

// forgetAll drops a tenant's vectors.
func (c *vectorCache) forgetAll(tenant string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for text := range c.vectors[tenant] {
		c.drop(tenant, text)
	}
	delete(c.vectors, tenant)
	delete(c.wanted, tenant)
}

// want notes which vectors were missed, to be read soon.
func (c *vectorCache) want(tenant string, texts []hash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wanted == nil {
		c.wanted = map[string]map[hash]bool{}
	}
	if c.wanted[tenant] == nil {
		c.wanted[tenant] = map[hash]bool{}
	}
	for _, text := range texts {
		if len(c.wanted[tenant]) < maxWanted {
			c.wanted[tenant][text] = true
		}
	}
}

// missed gives, and forgets, which vectors of each tenant are wanted.
func (c *vectorCache) missed() map[string][]hash {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string][]hash, len(c.wanted))
	for tenant, texts := range c.wanted {
		for text := range texts {
			all[tenant] = append(all[tenant], text)
		}
	}
	c.wanted = nil
	return all
}
