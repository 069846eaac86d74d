package vectors

import (
	"context"

	"github.com/annals-kb/annals/projections/embedding"
)

// vectorBudget is how many bytes of a tenant's vectors a process keeps in memory.
const vectorBudget = 64 << 20

// Cosines compares the vectors of pieces with the question's, by the hash of their text. It reads those that are not
// in memory, and keeps them; erased ones have none.
func (m *Projection) Cosines(
	ctx context.Context, q Question, s Shortlist, pieces []NearPiece,
) (map[Hash]float64, error) {
	cosines := make(map[Hash]float64, len(pieces))
	missing := s.index.compare(q, pieces, cosines)
	if len(missing) == 0 {
		return cosines, nil
	}
	stored, err := m.stored(ctx, q.search.By.Tenant, missing)
	if err != nil {
		return nil, err
	}
	s.index.keep(stored)
	m.Cache.resize(q.search.By.Tenant, s.index)
	q.compare(stored, cosines)
	return cosines, nil
}

// compare adds the cosines of the vectors in memory, and returns the texts of the others, each once.
func (l *VectorIndex) compare(q Question, pieces []NearPiece, cosines map[Hash]float64) (missing []Hash) {
	found := make(map[Hash][]float32, len(pieces))
	l.mu.RLock()
	for _, p := range pieces {
		if _, seen := found[p.Hash]; seen {
			continue
		}
		vector := l.Vectors[p.Hash]
		found[p.Hash] = vector
		if vector == nil {
			missing = append(missing, p.Hash)
		}
	}
	l.mu.RUnlock()
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

// keep keeps vectors in memory. If there are too many, it drops others at random.
func (l *VectorIndex) keep(vectors map[Hash][]float32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded { // it would not learn of erasures
		return
	}
	for text, vector := range vectors {
		l.Vectors[text], l.dims = vector, len(vector)
	}
	for text := range l.Vectors {
		if l.vectorBytes() <= vectorBudget {
			return
		}
		delete(l.Vectors, text)
	}
}

func (l *VectorIndex) vectorBytes() int { return 4 * l.dims * len(l.Vectors) }
