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
	Model      float64  // calibrated similarity by the configured model, part of Semantic; 0 if unknown
	Pending    bool     // Semantic is unknown, since the item has no vector yet
	Lexical    float64  // calibrated match of words, part of Score
	Overdue    bool     // its verification is overdue
	Confirmed  bool     // its verifier confirmed it, and that counts: see [Verification.Counts]
	Covered    float64  // 0…1: of the question by it or by an item beside it, by words like its own or by a model
	Reasons    []string // what raised its score beyond its own text, in words
	Named      bool     // the question is its id
	Beside     string   // the remark next to it that alone has something in common with the question
	Statement  string   // its text: the same for copies; empty if that does not count
}

// Hit is a ranked candidate.
type Hit struct {
	Candidate
	Scope  Scope   // the nearest scope shared with the audience
	Weight float64 // score × (½ + ½·confidence), × [OverdueFactor] or × [ConfirmedFactor], at most the score
	Band   Band    // empty for a hit of a search that sets a least score
	Best   bool    // one of the best hits, which are ordered by tier
	Nearer bool    // it precedes a heavier best hit because of its tier
	Copies int     // how many other hits it stands for, which say exactly the same
}

// Band says whether a hit is about the question.
type Band string

// The bands.
const (
	Sure    Band = "sure"
	Perhaps Band = "perhaps" // the nearest of what was found, but perhaps not about the question
)

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
	hits := reached(candidates, audience, minScore)
	arrange(hits, audience, order, minScore)
	return hits[:min(limit, len(hits))]
}

// RankInBands ranks as [Rank] does, first the hits that are surely about the question and then at most [MostPerhaps]
// others, by weight. Among the others, nothing comes first for being near. partly says that an item may answer only
// a part of the question: then hits are sure whose score is near the best.
func RankInBands(
	candidates []Candidate, audience Audience, order Order, minScore float64, limit int, partly bool,
) []Hit {
	hits := reached(candidates, audience, minScore)
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(standing(a, b), cmp.Compare(b.Score, a.Score), byWeight(a, b))
	})
	alone := slices.IndexFunc(hits, func(h Hit) bool { return h.Beside != "" })
	if alone < 0 {
		alone = len(hits)
	}
	sure := hits[:countSure(hits[:alone], partly)]
	perhaps := hits[len(sure):]
	if len(sure) > 0 {
		perhaps = slices.DeleteFunc(perhaps, func(h Hit) bool { return h.Score < leastPerhaps*hits[0].Score })
	}
	for i := range sure {
		sure[i].Band = Sure
	}
	for i := range perhaps {
		perhaps[i].Band = Perhaps
	}
	arrange(sure, audience, order, minScore)
	slices.SortFunc(perhaps, byWeight)
	sure = sure[:min(limit, len(sure))]
	return append(sure, perhaps[:min(MostPerhaps, limit-len(sure), len(perhaps))]...)
}

// MostPerhaps is how many hits are shown that may not be about the question.
const MostPerhaps = 5

// When hits count as sure. Found by measuring on one half of a company's questions, with and without an answer; what
// is lost on the other half is in docs/performance.md.
const (
	leastFirst   = 0.36 // of the question that the best hit covers, with twice its lead before the second one
	mostLead     = 0.1  // of that lead
	firstScore   = 0.55 // a best hit of this score is sure, whatever it covers
	leastOther   = 0.5  // the score of another sure hit, "about this", unless the best one covers most of the question
	mostCovered  = 0.7  // of the question, which then has an answer
	shareOther   = 0.55 // of the best score, that another sure hit has
	leastPerhaps = 0.4  // of the best score, if that hit is sure: what is far behind is not worth a look
)

// countSure is how many of the hits, the best scores first, are surely about the question. A hit that stands out among
// many needs to cover less of it: of what is not known, the nearest items are alike.
func countSure(hits []Hit, partly bool) int {
	if len(hits) == 0 {
		return 0
	}
	if hits[0].Named { // which says nothing about the others
		return 1 + countSure(hits[1:], partly)
	}
	best, least := hits[0], shareOther*hits[0].Score
	if !partly {
		lead := 0.0
		if len(hits) > 3 {
			lead = min(mostLead, best.Score-hits[1].Score)
		}
		if best.Covered+2*lead < leastFirst && best.Score < firstScore {
			return 0
		}
		if best.Covered < mostCovered {
			least = max(leastOther, least)
		}
	}
	n := 1
	for n < len(hits) && hits[n].Score >= least {
		n++
	}
	return n
}

// reached are the candidates that the audience may see and whose score suffices, without copies.
func reached(candidates []Candidate, audience Audience, minScore float64) []Hit {
	var hits []Hit
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
	}
	return withoutCopies(hits, audience)
}

// arrange orders hits, and marks the best and those that precede heavier ones.
func arrange(hits []Hit, audience Audience, order Order, minScore float64) {
	best := 0.0
	for _, h := range hits {
		if !h.Named {
			best = max(best, h.Score)
		}
	}
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

// standing puts first what the question names, and last what stands beside a hit and has nothing in common with the
// question itself.
func standing(a, b Hit) int {
	if a.Named != b.Named {
		return first(a.Named)
	}
	if (a.Beside == "") == (b.Beside == "") {
		return 0
	}
	return first(a.Beside == "")
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
