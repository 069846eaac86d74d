package projections

import "sync"

// vectorBudget is how many bytes of vectors a process of SQLite keeps in memory, so that a search
// seldom reads them from the file.
const vectorBudget = 64 << 20

// vectorCache remembers vectors by tenant and text. Vectors never change, so nothing goes stale; when
// it is full, some go at random. The zero value is empty. It is safe for concurrent use.
type vectorCache struct {
	mu      sync.RWMutex
	bytes   int
	vectors map[cacheKey][]float32
}

type cacheKey struct {
	tenant string
	text   hash
}

// find adds the vectors it has to found, and returns the pieces of the others.
func (c *vectorCache) find(tenant string, wanted []candidate, found map[hash][]float32) (missing []piece) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, p := range wanted {
		if vector, known := c.vectors[cacheKey{tenant, p.hash}]; known {
			found[p.hash] = vector
			continue
		}
		missing = append(missing, piece{hash: p.hash})
	}
	return missing
}

func (c *vectorCache) keep(tenant string, vectors map[hash][]float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vectors == nil {
		c.vectors = map[cacheKey][]float32{}
	}
	for text, vector := range vectors {
		key := cacheKey{tenant, text}
		if _, known := c.vectors[key]; !known {
			c.vectors[key] = vector
			c.bytes += 4 * len(vector)
		}
	}
	for key, vector := range c.vectors {
		if c.bytes <= vectorBudget {
			break
		}
		delete(c.vectors, key)
		c.bytes -= 4 * len(vector)
	}
}

// forget drops the vectors of texts that may have been erased.
func (c *vectorCache) forget(tenant string, texts []hash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range texts {
		key := cacheKey{tenant, text}
		c.bytes -= 4 * len(c.vectors[key])
		delete(c.vectors, key)
	}
}
