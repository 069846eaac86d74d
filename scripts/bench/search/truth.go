package main

import (
	"cmp"
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// depth is how many hits count.
const depth = 10

// orders are how hits are arranged: the nearest of all, and nearest scope first.
var orders = []domain.Order{domain.ByScore, domain.ByPriority}

// exact compares a question with every item: cosines are by item.
func (w *world) exact(q question) []float64 {
	cosines := make([]float64, len(w.items))
	var comparing sync.WaitGroup
	share := (len(w.items) + runtime.NumCPU() - 1) / runtime.NumCPU()
	for from := 0; from < len(w.items); from += share {
		comparing.Go(func() {
			for i := from; i < min(from+share, len(w.items)); i++ {
				cosines[i] = embedding.Cosine(w.vectors[i], q.vector)
			}
		})
	}
	comparing.Wait()
	return cosines
}

// nearest is what the bare query should find: the hashes of the nearest texts.
func (w *world) nearest(cosines []float64) map[string]bool {
	var best []int // the nearest first
	for i, cosine := range cosines {
		if len(best) == depth && cosine <= cosines[best[depth-1]] {
			continue
		}
		place, _ := slices.BinarySearchFunc(best, cosine, func(other int, cosine float64) int { return cmp.Compare(cosine, cosines[other]) })
		best = slices.Insert(best, place, i)
		best = best[:min(depth, len(best))]
	}
	hashes := make(map[string]bool, depth)
	for _, i := range best {
		hash := sha256.Sum256([]byte(w.items[i].content))
		hashes[string(hash[:])] = true
	}
	return hashes
}

// rank is what an audience should find, by the specification: [domain.Rank] over everything that it sees. Every item has
// the confidence that everything begins with.
func (w *world) rank(seen domain.Audience, order domain.Order, visible []int, cosines []float64) map[string]bool {
	calibration := lookup{}.Calibration()
	candidates := make([]domain.Candidate, len(visible))
	for n, i := range visible {
		candidates[n] = domain.Candidate{
			ID: idOf(i), Scopes: w.items[i].scopes, Confidence: 0.5, Position: int64(i + 1),
			Score: calibration.Join(calibration.Score(cosines[i]), 0),
		}
	}
	ids := make(map[string]bool, depth)
	for _, hit := range domain.Rank(candidates, seen, order, 0, depth) {
		ids[hit.ID] = true
	}
	return ids
}

// share is how many of the expected hits were found.
func share(expected map[string]bool, answer domain.Answer) float64 {
	found := 0
	for _, hit := range answer.Hits {
		if expected[hit.ID] {
			found++
		}
	}
	return float64(found) / float64(max(1, len(expected)))
}
