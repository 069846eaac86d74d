package viking

import (
	"cmp"
	"math"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
)

// Clients leave out what scores less than 0.35. The built-in embedder, and words alone, weigh many right answers less. Their
// weights are mapped so that a right answer passes, and what is unrelated stays below 0.1: measured on testdata/calibration.txt.
const (
	evenWeight  = 0.19 // the weight that is shown as 0.5
	weightSlope = 2.2  // how steep the curve is there
	evenShare   = 0.6  // the share of the best weight at which a hit counts half: most have no more than a word in common
	shareSlope  = 22.0
)

// scores are what hits are shown with, in the same order. They never rise where the weights fall.
func scores(answer domain.Answer) []float64 {
	list := make([]float64, len(answer.Hits))
	best := 0.0
	for _, hit := range answer.Hits {
		best = max(best, hit.Weight)
	}
	for i, hit := range answer.Hits {
		list[i] = hit.Weight
		if answer.Embedder == (embedding.Builtin{}).Name() || answer.Degraded != "" {
			list[i] = absolute(hit.Weight) * logistic(shareSlope, hit.Weight/best-evenShare) / logistic(shareSlope, 1-evenShare)
		}
	}
	return list
}

// absolute is what a weight is shown as if no other is above it.
func absolute(weight float64) float64 { return logistic(weightSlope, math.Log(weight/evenWeight)) }

func logistic(slope, x float64) float64 { return 1 / (1 + math.Exp(-slope*x)) }

// leastScore is the domain's score that no hit is below which is shown with as much as a threshold.
func leastScore(threshold *float64) *float64 {
	if threshold == nil || *threshold <= 0 || *threshold >= 1 {
		return threshold
	}
	const rounding = 0.999
	least := min(*threshold, evenWeight*math.Pow(*threshold/(1-*threshold), 1/weightSlope)) * rounding
	return &least
}

// passing are the hits that are shown with as much as a threshold, and their scores.
func passing(answer domain.Answer, threshold *float64) (hits []domain.Found, shown []float64) {
	for i, score := range scores(answer) {
		if score >= *cmp.Or(threshold, new(float64)) {
			hits, shown = append(hits, answer.Hits[i]), append(shown, score)
		}
	}
	return hits, shown
}
