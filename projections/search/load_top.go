package search

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/words"
)

// loadTop reads the items of some candidates.
func (f *Execution) loadTop(ctx context.Context, all *candidates, prospects []candidate) error {
	numbers := make([]int64, len(prospects))
	by := make(map[int64]*candidate, len(prospects))
	for i := range prospects {
		numbers[i] = prospects[i].number
		by[numbers[i]] = &prospects[i]
		all.read[numbers[i]] = false
	}
	slices.Sort(numbers)
	items, err := f.candidateRows(ctx, f.Search, numbers)
	for _, item := range items {
		p := by[item.Number]
		all.read[item.Number] = true
		if slices.Contains(f.unreadable, item.ID) {
			continue
		}
		c := domain.Candidate{
			ID: item.ID, Scopes: item.Scopes, Confidence: item.confidence, Position: item.Position,
			Score: p.score, Semantic: p.semantic, Lexical: p.lexical, Pending: f.Embedding.Vector != nil && !p.compared,
		}
		if f.IgnoreConfidence {
			c.Confidence = 1
		}
		all.found = append(all.found, c)
		if _, shared := f.Audience.Best(c.Scopes); shared {
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
func (f *Execution) topSize(prospects []candidate) int {
	limit := f.Search.Limit
	if f.Search.Explain || len(prospects) <= 2*limit {
		return len(prospects)
	}
	least := usualConfidence * prospects[limit-1].score
	if f.Search.Order == domain.ByPriority {
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
func (f *Execution) isFinal(hits []domain.Hit, top, rest float64) bool {
	if rest < f.minScore && len(hits) > 0 {
		return true
	}
	byPriority := f.Search.Order == domain.ByPriority
	if len(hits) < f.Search.Limit || byPriority && rest >= max(f.minScore, domain.NearTie(top)) {
		return false
	}
	return !slices.ContainsFunc(hits, func(h domain.Hit) bool { return h.Weight <= rest && !(byPriority && h.Best) })
}

// isTruncated tells whether so much of what was read did not pass that other items may not have become
// candidates: half of what words found or more than a third, or half of a place that gave all it may.
func (f *Execution) isTruncated(all *candidates) bool {
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
	if dropped >= words.WordsDepth/2 && dropped > len(all.words)/3 {
		return true
	}
	for i, place := range all.pieces {
		dropped := 0
		for _, c := range place {
			if missed(c.Number) {
				dropped++
			}
		}
		if len(place) >= f.question.Depths(f.question.Scopes[i]).Vectors && 2*dropped >= len(place) {
			return true
		}
	}
	return false
}
