package domain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "github.com/annals-kb/annals/domain"
)

// ids are the ids of hits, in order.
func ids(hits []Hit) []string {
	all := make([]string, len(hits))
	for i, h := range hits {
		all[i] = h.ID
	}
	return all
}

// candidate scores this much and is trusted half.
func candidate(id string, score float64, scopes ...Scope) Candidate {
	return Candidate{ID: id, Score: score, Confidence: 0.5, Scopes: scopes}
}

var everyone = Audience{Scopes: []Scope{"user:alice", "project:456", "agent:bot", "team:t", "org:acme", Public}}

func TestTheNearestScopeComesFirst(t *testing.T) {
	t.Parallel()
	got := ids(Rank([]Candidate{
		candidate("public", 0.90, Public),
		candidate("org", 0.85, "org:acme"),
		candidate("team", 0.80, "team:t"),
		candidate("agent", 0.77, "agent:bot"),
		candidate("project", 0.72, "project:456"),
		candidate("user", 0.69, Public, "user:alice"),
	}, everyone, ByPriority, 0.5, 10))
	want := []string{"user", "project", "agent", "team", "org", "public"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestAConfirmationByAVerifierCountsUpToTheScore(t *testing.T) {
	t.Parallel()
	some := []Candidate{
		candidate("plain", 0.8, Public), candidate("confirmed", 0.75, Public), candidate("sure", 0.5, Public),
	}
	some[1].Confirmed, some[2].Confirmed, some[2].Confidence = true, true, 0.9
	hits := Rank(some, everyone, ByScore, 0, 3)
	if diff := cmp.Diff(ids(hits), []string{"confirmed", "plain", "sure"}); diff != "" || hits[2].Weight != 0.5 {
		t.Errorf("%s; the third weighs %v", diff, hits[2].Weight)
	}
}

func TestTheItemThatTheQuestionNamesIsSureAndFirst(t *testing.T) {
	t.Parallel()
	some := []Candidate{
		candidate("near", 0.6, "user:alice"), candidate("also", 0.4, "user:alice"), candidate("named", 1, Public),
	}
	some[0].Covered, some[2].Named = 0.8, true
	for _, order := range []Order{ByPriority, ByScore} {
		hits := RankInBands(some, everyone, order, 0, 10, false)
		if diff := cmp.Diff(ids(hits), []string{"named", "near", "also"}); diff != "" {
			t.Errorf("%s: %s", order, diff)
		}
		for _, hit := range hits {
			if hit.Band != Sure {
				t.Errorf("%s: %s is %s", order, hit.ID, hit.Band)
			}
		}
	}
	some[0].Score, some[0].Covered = 0.45, 0.1
	if hits := RankInBands(some, everyone, ByPriority, 0, 10, false); hits[0].Band != Sure || hits[1].Band != Perhaps {
		t.Errorf("bands are %s and %s", hits[0].Band, hits[1].Band)
	}
}

func TestWhatBarelyMatchesHidesNothing(t *testing.T) {
	t.Parallel()
	candidates := []Candidate{candidate("team", 0.9, "team:t")}
	for i := range 10 {
		candidates = append(candidates, candidate(fmt.Sprint("own", i), 0.4, "user:alice"))
	}
	hits := Rank(candidates, everyone, ByPriority, 0, 20)
	if hits[0].ID != "team" || !hits[0].Best || hits[1].Best {
		t.Errorf("first %s, best %t; second best %t", hits[0].ID, hits[0].Best, hits[1].Best)
	}
}

func TestTheNearestScopeDecidesNearTiesOnlyAndSaysSo(t *testing.T) {
	t.Parallel()
	far := Rank([]Candidate{candidate("org", 0.42, "org:acme"), candidate("team", 0.22, "team:t")}, everyone, ByPriority, 0, 10)
	if diff := cmp.Diff(ids(far), []string{"org", "team"}); diff != "" || far[0].Nearer || far[1].Nearer {
		t.Errorf("a hit of half the score (-got +want):\n%s", diff)
	}
	candidates := []Candidate{candidate("org", 0.8, "org:acme"), candidate("team", 0.7, "team:t"), candidate("own", 0.9, "user:alice")}
	near := Rank(candidates, everyone, ByPriority, 0, 10)
	if diff := cmp.Diff(ids(near), []string{"own", "team", "org"}); diff != "" || near[0].Nearer || !near[1].Nearer || near[2].Nearer {
		t.Errorf("a near tie: %+v (-got +want):\n%s", near, diff)
	}
	for _, hit := range Rank(candidates, everyone, ByScore, 0, 10) {
		if hit.Nearer {
			t.Errorf("by score, the scope of %s decided", hit.ID)
		}
	}
}

func TestAScopeThatTheCallerDoesNotShareGivesNoTier(t *testing.T) {
	t.Parallel()
	hits := Rank([]Candidate{
		candidate("bobs", 0.9, "user:bob", "team:t"), candidate("org", 0.8, "org:acme"), candidate("hidden", 1, "user:bob"),
	}, everyone, ByPriority, 0, 10)
	if diff := cmp.Diff(ids(hits), []string{"bobs", "org"}); diff != "" || hits[0].Scope != "team:t" {
		t.Errorf("nearest shared scope %s (-got +want):\n%s", hits[0].Scope, diff)
	}
	all := Rank([]Candidate{candidate("bobs", 0.9, "user:bob", "team:t")}, Audience{Everything: true}, ByPriority, 0, 10)
	if all[0].Scope != "user:bob" {
		t.Errorf("who sees everything gets %s, want each item's own nearest", all[0].Scope)
	}
}

func TestWhoSeesEverythingHasTheirOwnScopesNear(t *testing.T) {
	t.Parallel()
	hits := Rank([]Candidate{
		candidate("bobs", 0.8, "user:bob"), candidate("public", 0.9, Public), candidate("own", 0.7, "user:alice"),
	}, Audience{Everything: true, Near: []Scope{Public, "user:alice"}}, ByPriority, 0, 10)
	if diff := cmp.Diff(ids(hits), []string{"own", "public", "bobs"}); diff != "" || !hits[0].Nearer || hits[1].Nearer {
		t.Errorf("%+v (-got +want):\n%s", hits, diff)
	}
}

func TestCopiesCountOnceInTheNearestScope(t *testing.T) {
	t.Parallel()
	for _, order := range []Order{ByPriority, ByScore} {
		candidates := []Candidate{candidate("other", 0.6, Public), candidate("team", 0.7, "team:t")}
		for i := range 13 {
			candidates = append(candidates, candidate(fmt.Sprint("copy", i), 0.9, Public))
		}
		for i := range candidates[1:] {
			candidates[i+1].Statement = "the same"
		}
		hits := Rank(candidates, everyone, order, 0, 2)
		if diff := cmp.Diff(ids(hits), []string{"team", "other"}); diff != "" || hits[0].Copies != 13 {
			t.Errorf("%s: %+v (-got +want):\n%s", order, hits, diff)
		}
	}
}

func TestAmongScopesOfOneTierTheAlphabeticallyFirstIsNamed(t *testing.T) {
	t.Parallel()
	for _, scopes := range [][]Scope{{"team:a", "team:b"}, {"team:b", "team:a"}} {
		if got, shared := (Audience{Everything: true}).Best(scopes); got != "team:a" || !shared {
			t.Errorf("%v: got %s, %t", scopes, got, shared)
		}
	}
}

func TestBothThresholdsAreInclusive(t *testing.T) {
	t.Parallel()
	hits := Rank([]Candidate{
		candidate("best", 1, Public), candidate("tie", 0.75, "user:alice"),
		candidate("under", 0.7499, "user:alice"), candidate("least", 0.3, "user:alice"), candidate("gone", 0.2999, "user:alice"),
	}, everyone, ByPriority, 0.3, 10)
	if diff := cmp.Diff(ids(hits), []string{"tie", "best", "under", "least"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestWithinATierWeightDecidesAndThenAge(t *testing.T) {
	t.Parallel()
	at := func(id string, confidence float64, position int64) Candidate {
		return Candidate{ID: id, Score: 0.8, Confidence: confidence, Position: position, Scopes: []Scope{Public}}
	}
	hits := Rank([]Candidate{
		at("b", 0.5, 7), at("a", 0.5, 7), at("older", 0.5, 6), at("newer", 0.5, 8), at("trusted", 0.9, 1),
	}, everyone, ByPriority, 0, 10)
	if diff := cmp.Diff(ids(hits), []string{"trusted", "newer", "a", "b", "older"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if Weight(0.5, 1) != 0.5 || Weight(0.5, 0.5) != 0.375 || Weight(0.5, 0) != 0.25 {
		t.Error("no confidence at all should cost half the score, full confidence nothing")
	}
}

// candidates draws few values, so that there are ties.
func candidates(t *rapid.T) []Candidate {
	scope := rapid.SampledFrom([]Scope{"user:alice", "user:bob", "project:456", "project:789", "agent:bot", "team:t", "org:acme", Public})
	all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Candidate {
		return Candidate{
			Scopes:     rapid.SliceOfNDistinct(scope, 1, 4, rapid.ID).Draw(t, "scopes"),
			Confidence: float64(rapid.IntRange(0, 4).Draw(t, "confidence")) / 4,
			Position:   rapid.Int64Range(1, 3).Draw(t, "position"),
			Score:      float64(rapid.IntRange(0, 10).Draw(t, "score")) / 10,
		}
	}), 0, 20).Draw(t, "candidates")
	for i := range all {
		all[i].ID = fmt.Sprintf("k%02d", i)
	}
	return all
}

func audience(t *rapid.T) Audience {
	if rapid.Bool().Draw(t, "everything") {
		return Audience{Everything: true, Near: everyone.Scopes}
	}
	return Audience{Scopes: rapid.SliceOfDistinct(rapid.SampledFrom(everyone.Scopes), rapid.ID).Draw(t, "audience")}
}

func TestRankHoldsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all, whom := candidates(t), audience(t)
		order := rapid.SampledFrom([]Order{ByPriority, ByScore}).Draw(t, "order")
		least := float64(rapid.IntRange(0, 10).Draw(t, "min_score")) / 10
		hits := Rank(all, whom, order, least, len(all))

		shuffled := slices.Clone(all)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		if diff := cmp.Diff(Rank(shuffled, whom, order, least, len(all)), hits); diff != "" {
			t.Fatalf("the order depends on the order of the candidates (-got +want):\n%s", diff)
		}

		limit := rapid.IntRange(0, 25).Draw(t, "limit")
		if diff := cmp.Diff(ids(Rank(all, whom, order, least, limit)), ids(hits[:min(limit, len(hits))])); diff != "" {
			t.Fatalf("a limit is not a prefix (-got +want):\n%s", diff)
		}

		hit := map[string]bool{}
		for _, h := range hits {
			hit[h.ID] = true
			nearestShared(t, h, whom)
		}
		best := 0.0
		for _, c := range all {
			shared := whom.Everything || slices.ContainsFunc(c.Scopes, func(s Scope) bool { return slices.Contains(whom.Scopes, s) })
			if belongs := shared && c.Score >= least; belongs != hit[c.ID] {
				t.Fatalf("%s, shared %t, score %v: in the answer %t", c.ID, shared, c.Score, hit[c.ID])
			}
			if hit[c.ID] {
				best = max(best, c.Score)
			}
		}
		for i, h := range hits {
			if h.Best != (h.Score >= least && h.Score >= NearTie(best)) {
				t.Fatalf("%s scores %v of %v: best %t", h.ID, h.Score, best, h.Best)
			}
			if i > 0 {
				inOrder(t, hits[i-1], h, order, whom)
			}
		}
	})
}

// nearestShared holds a hit's scope against every scope it might have been given.
func nearestShared(t *rapid.T, h Hit, audience Audience) {
	if !slices.Contains(h.Scopes, h.Scope) {
		t.Fatalf("%s is not of %s", h.ID, h.Scope)
	}
	if !audience.Everything && !slices.Contains(audience.Scopes, h.Scope) {
		t.Fatalf("%s answers for %s, which is not the caller's", h.ID, h.Scope)
	}
	for _, s := range h.Scopes {
		near := slices.Contains(audience.Scopes, s) || slices.Contains(audience.Near, s)
		if near && (s.Tier() < h.Scope.Tier() || audience.Everything && !slices.Contains(audience.Near, h.Scope)) {
			t.Fatalf("%s answers for %s, though %s is nearer", h.ID, h.Scope, s)
		}
	}
}

// inOrder holds two neighbours against the rule that separates them.
func inOrder(t *rapid.T, a, b Hit, order Order, audience Audience) {
	byTier := order == ByPriority
	tier := func(s Scope) Tier {
		if audience.Everything && !slices.Contains(audience.Near, s) {
			return TierPublic
		}
		return s.Tier()
	}
	switch {
	case byTier && a.Best != b.Best:
		if b.Best {
			t.Fatalf("%s is among the best and follows %s", b.ID, a.ID)
		}
	case byTier && a.Best && tier(a.Scope) != tier(b.Scope):
		if tier(a.Scope) > tier(b.Scope) {
			t.Fatalf("%s (%s) precedes %s (%s)", a.ID, a.Scope, b.ID, b.Scope)
		}
	case a.Weight != b.Weight:
		if a.Weight < b.Weight {
			t.Fatalf("%s weighs %v and precedes %s with %v", a.ID, a.Weight, b.ID, b.Weight)
		}
	case a.Position != b.Position:
		if a.Position < b.Position {
			t.Fatalf("%s is older than %s and precedes it", a.ID, b.ID)
		}
	case a.ID >= b.ID:
		t.Fatalf("%s precedes %s", a.ID, b.ID)
	}
}
