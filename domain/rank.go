package domain

import (
	"cmp"
	"slices"
)

// Candidate is an item that a search considers.
type Candidate struct {
	ID         string
	Scopes     []Scope
	Confidence float64 // 0…1
	Position   int64   // of its newest event
	Score      float64 // 0…1: relevance to the query; 0.5 means "about this"
	Semantic   float64 // calibrated similarity of meaning, part of Score; 0 if unknown
	Pending    bool    // Semantic is unknown, since the item has no vector yet
	Lexical    float64 // calibrated match of words, part of Score
	Overdue    bool    // its verification is overdue
	Confirmed  bool    // its verifier confirmed it, and that counts: see [Verification.Counts]
}

// Hit is a ranked candidate.
type Hit struct {
	Candidate
	Scope  Scope   // the nearest scope shared with the audience
	Weight float64 // score × (½ + ½·confidence), × [OverdueFactor] or × [ConfirmedFactor], at most the score
	Best   bool    // one of the best hits, which are ordered by tier
	Nearer bool    // it precedes a heavier best hit because of its tier
}

// Weight is how much a hit counts: its score, discounted by up to a half for lack of confidence.
func Weight(score, confidence float64) float64 { return score * (0.5 + 0.5*confidence) }

// Rank is the specification of search order. It drops candidates outside the audience or below minScore.
//
// By priority, the best hits (score ≥ [NearTie]) come first. They are ordered by the tier of the nearest scope shared
// with the audience, then by weight. The rest follow by weight. Without that limit, many notes of the caller that
// barely match would hide the team's answer. By score, weight alone decides. Ties: newest position, then id.
func Rank(candidates []Candidate, audience Audience, order Order, minScore float64, limit int) []Hit {
	var hits []Hit
	best := 0.0
	for _, c := range candidates {
		scope, shared := audience.Best(c.Scopes)
		if !shared || c.Score < minScore {
			continue
		}
		weight := Weight(c.Score, c.Confidence)
		switch {
		case c.Overdue:
			weight *= OverdueFactor
		case c.Confirmed:
			weight = min(weight*ConfirmedFactor, c.Score)
		}
		hits = append(hits, Hit{Candidate: c, Scope: scope, Weight: weight})
		best = max(best, c.Score)
	}
	threshold := max(minScore, NearTie(best))
	for i := range hits {
		hits[i].Best = hits[i].Score >= threshold
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if order == ByPriority {
			if a.Best != b.Best {
				return first(a.Best)
			}
			if byTier := cmp.Compare(a.Scope.Tier(), b.Scope.Tier()); a.Best && byTier != 0 {
				return byTier
			}
		}
		return cmp.Or(
			cmp.Compare(b.Weight, a.Weight),
			cmp.Compare(b.Position, a.Position),
			cmp.Compare(a.ID, b.ID),
		)
	})
	if order == ByPriority {
		markNearer(hits)
	}
	return hits[:min(limit, len(hits))]
}

// NearTie is the least score of a best hit, given the best score.
func NearTie(best float64) float64 { return 0.75 * best }

// markNearer marks the best hits that precede heavier ones.
func markNearer(hits []Hit) {
	heaviest := 0.0
	for i := len(hits) - 1; i >= 0; i-- {
		if h := &hits[i]; h.Best {
			h.Nearer = h.Weight < heaviest
			heaviest = max(heaviest, h.Weight)
		}
	}
}

func first(yes bool) int {
	if yes {
		return -1
	}
	return 1
}
