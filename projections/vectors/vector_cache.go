package vectors

import (
	"sync"

	"github.com/annals-kb/annals/embedding"
)

// vectorBudget is how many bytes of vectors a process keeps in memory. maxWanted is how many of the vectors that
// searches missed are read at a time.
const (
	vectorBudget = 64 << 20
	maxWanted    = 500
)

// vectorCache keeps vectors by tenant and text. Vectors never change, so none is out of date. A full cache evicts at
// random. The zero value is empty. It is safe for concurrent use.
type vectorCache struct {
	Mu      sync.RWMutex
	bytes   int
	Vectors map[string]map[Hash][]float32
	wanted  map[string]map[Hash]bool
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
	delete(c.wanted, tenant)
}

// want notes missing vectors, which are read soon.
func (c *vectorCache) want(tenant string, texts []Hash) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.wanted == nil {
		c.wanted = map[string]map[Hash]bool{}
	}
	if c.wanted[tenant] == nil {
		c.wanted[tenant] = map[Hash]bool{}
	}
	for _, text := range texts {
		if len(c.wanted[tenant]) < maxWanted {
			c.wanted[tenant][text] = true
		}
	}
}

// missed returns the wanted vectors of each tenant, and clears them.
func (c *vectorCache) missed() map[string][]Hash {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	all := make(map[string][]Hash, len(c.wanted))
	for tenant, texts := range c.wanted {
		for text := range texts {
			all[tenant] = append(all[tenant], text)
		}
	}
	c.wanted = nil
	return all
}
