package domain

import (
	"cmp"
	"slices"
)

// Candidate is an item that a search considers.
type Candidate struct {
	ID         string
	Scopes     []Scope
	Confidence float64  // 0…1
	Position   int64    // of its newest event
	Score      float64  // 0…1: relevance to the query; 0.5 means "about this"
	Semantic   float64  // calibrated similarity of meaning, part of Score; 0 if unknown
	Pending    bool     // Semantic is unknown, since the item has no vector yet
	Lexical    float64  // calibrated match of words, part of Score
	Overdue    bool     // its verification is overdue
	Confirmed  bool     // its verifier confirmed it, and that counts: see [Verification.Counts]
	Covered    float64  // 0…1: the share of the question that it or an item beside it says, by the built-in embedder
	Reasons    []string // what raised its score beyond its own text, in words
	Named      bool     // the question is its id
	Statement  string   // its text: the same for copies; empty if that does not count
}

// Hit is a ranked candidate.
type Hit struct {
	Candidate
	Scope  Scope   // the nearest scope shared with the audience
	Weight float64 // score × (½ + ½·confidence), × [OverdueFactor] or × [ConfirmedFactor], at most the score
	Best   bool    // one of the best hits, which are ordered by tier
	Nearer bool    // it precedes a heavier best hit because of its tier
	Copies int     // how many other hits it stands for, which say exactly the same
}

// Weight is how much a hit counts: its score, discounted by up to a half for lack of confidence.
func Weight(score, confidence float64) float64 { return score * (0.5 + 0.5*confidence) }

// Rank is the specification of search order. It drops candidates outside the audience or below minScore. An item whose
// id is the question comes first.
//
// By priority, the best hits (score ≥ [NearTie]) come first. They are ordered by the tier of the nearest scope shared
// with the audience, then by weight. The rest follow by weight. Without that limit, many notes of the caller that
// barely match would hide the team's answer. By score, weight alone decides. Ties: newest position, then id. Of copies,
// which say the same, only the one in the nearest scope is a hit.
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
		if !c.Named {
			best = max(best, c.Score)
		}
	}
	hits = withoutCopies(hits, audience)
	threshold := max(minScore, NearTie(best))
	for i := range hits {
		hits[i].Best = hits[i].Score >= threshold
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if a.Named != b.Named {
			return first(a.Named)
		}
		if order == ByPriority {
			if a.Best != b.Best {
				return first(a.Best)
			}
			if byTier := cmp.Compare(audience.tierOf(a.Scope), audience.tierOf(b.Scope)); a.Best && byTier != 0 {
				return byTier
			}
		}
		return byWeight(a, b)
	})
	if order == ByPriority {
		markNearer(hits)
	}
	return hits[:min(limit, len(hits))]
}

// How much of a question the best hit must cover, in words or in words like them, or its score. Below the first,
// nothing answers the question. Below the second, few hits are shown. What that loses is in docs/performance.md.
const (
	silentBelow, silentScore = 0.28, 0.45
	weakBelow, weakScore     = 0.4, 0.546
	mostWeak                 = 3
)

// Convincing keeps those of some hits that are worth showing. weak means that they may not be about the question.
func Convincing(hits []Hit) (kept []Hit, weak bool) {
	best := slices.MaxFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Score, b.Score) })
	switch {
	case best.Covered < silentBelow && best.Score < silentScore:
		return nil, false
	case best.Covered < weakBelow && best.Score < weakScore:
		return hits[:min(mostWeak, len(hits))], true
	}
	return hits, false
}

// withoutCopies keeps one hit of those that say the same: the heaviest in the nearest tier.
func withoutCopies(hits []Hit, audience Audience) []Hit {
	kept, at := hits[:0], map[string]int{}
	for _, h := range hits {
		i, copied := at[h.Statement]
		if h.Statement == "" || !copied {
			at[h.Statement], kept = len(kept), append(kept, h)
			continue
		}
		h.Copies = kept[i].Copies + 1
		if cmp.Or(cmp.Compare(audience.tierOf(h.Scope), audience.tierOf(kept[i].Scope)), byWeight(h, kept[i])) < 0 {
			kept[i] = h
		}
		kept[i].Copies = h.Copies
	}
	return kept
}

func byWeight(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Position, a.Position), cmp.Compare(a.ID, b.ID))
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
