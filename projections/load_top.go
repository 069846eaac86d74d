package projections

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// loadTop reads the items of some candidates.
func (f *execution) loadTop(ctx context.Context, all *candidates, prospects []candidate) error {
	numbers := make([]int64, len(prospects))
	by := make(map[int64]*candidate, len(prospects))
	for i := range prospects {
		numbers[i] = prospects[i].number
		by[numbers[i]] = &prospects[i]
		all.read[numbers[i]] = false
	}
	slices.Sort(numbers)
	items, err := f.projection.candidateRows(ctx, f.search, numbers)
	for _, item := range items {
		p := by[item.number]
		all.read[item.number] = true
		if slices.Contains(f.unreadable, item.id) {
			continue
		}
		c := domain.Candidate{
			ID: item.id, Scopes: item.scopes, Confidence: item.confidence, Position: item.position,
			Score: p.score, Semantic: p.semantic, Lexical: p.lexical, Pending: f.embedding.vector != nil && !p.compared,
		}
		if f.ignoreConfidence {
			c.Confidence = 1
		}
		all.found = append(all.found, c)
		if _, shared := f.audience.Best(c.Scopes); shared {
			all.top = max(all.top, c.Score)
			if c.Score < f.minScore {
				f.bestBelow = max(f.bestBelow, c.Score)
			}
		}
	}
	return err
}

// A usual confidence is no more than a third above another: what scores less than three quarters of the last
// hit rarely comes before it.
const usualConfidence = 0.75

// topSize is how many candidates are read first. If most pass the filter and have a usual confidence, the
// answer is among them.
func (f *execution) topSize(prospects []candidate) int {
	limit := f.search.Limit
	if f.search.Explain || len(prospects) <= 2*limit {
		return len(prospects)
	}
	least := usualConfidence * prospects[limit-1].score
	if f.search.Order == domain.ByPriority {
		least = min(least, domain.NearTie(prospects[0].score))
	}
	least = max(least, f.minScore)
	n := slices.IndexFunc(prospects, func(p candidate) bool { return p.score < least })
	if n < 0 {
		return len(prospects)
	}
	return max(limit, n)
}

// isFinal tells whether hits stay what they are, whatever is known of candidates that score no more than so
// much: a weight is never more than a score.
func (f *execution) isFinal(hits []domain.Hit, top, rest float64) bool {
	if rest < f.minScore && len(hits) > 0 {
		return true
	}
	byPriority := f.search.Order == domain.ByPriority
	if len(hits) < f.search.Limit || byPriority && rest >= max(f.minScore, domain.NearTie(top)) {
		return false
	}
	return !slices.ContainsFunc(hits, func(h domain.Hit) bool { return h.Weight <= rest && !(byPriority && h.Best) })
}

// isTruncated tells whether so much of what was read did not pass that other items may not have become
// candidates: half of what words found or more than a third, or half of a place that gave all it may.
func (f *execution) isTruncated(all *candidates) bool {
	missed := func(number int64) bool {
		passed, read := all.read[number]
		return read && !passed
	}
	dropped := 0
	for _, number := range all.words {
		if missed(number) {
			dropped++
		}
	}
	if dropped >= wordsDepth/2 && dropped > len(all.words)/3 {
		return true
	}
	for i, place := range all.pieces {
		dropped := 0
		for _, c := range place {
			if missed(c.number) {
				dropped++
			}
		}
		if len(place) >= f.question.depths(f.question.scopes[i]).vectors && 2*dropped >= len(place) {
			return true
		}
	}
	return false
}
