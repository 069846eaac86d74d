package main

import (
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
	for i, v := range w.vectors {
		cosines[i] = embedding.Cosine(v, q.vector)
	}
	return cosines
}

// rank is what an audience should find, by the specification: [domain.Rank] over everything that it sees. Every item has
// the confidence that everything begins with.
func (w *world) rank(a audience, seen domain.Audience, order domain.Order, visible []int, cosines []float64) map[string]bool {
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
