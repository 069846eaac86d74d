package domain_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	. "github.com/annals-kb/annals/domain"
)

func TestConfidenceGrowsWithUse(t *testing.T) {
	t.Parallel()
	policy := DefaultConfidence()
	for _, c := range []struct {
		helpful, harmful, reporters int
		want                        float64
	}{
		{1, 0, 0, 0.5}, // as an item begins
		{5, 0, 0, 0.9}, // as it proves itself
		{2, 0, 0, 0.75},
		{1, 1, 0, 0.25},
		{5, 5, 0, 0.45},
		{0, 0, 0, 0},
		{0, 3, 0, 0},
		{5, 0, 1, 0.45},
		{5, 0, 2, 0.225},
		{1, 0, 3, 0.0625},
	} {
		if got := policy.Confidence(c.helpful, c.harmful, c.reporters); got != c.want {
			t.Errorf("%d for, %d against, %d doubts: got %v, want %v", c.helpful, c.harmful, c.reporters, got, c.want)
		}
	}
	if policy.Name != "one-voice/1" {
		t.Errorf("the policy is called %s: another formula needs another name, and a rebuild", policy.Name)
	}
}

func TestRepeatedVotesOfOneVoterWeighLess(t *testing.T) {
	t.Parallel()
	item := remembered()
	item.Source.AgentID = bot.ID()
	for _, c := range []struct {
		want  float64
		facts []Fact
	}{
		{2 / 2.5, []Fact{FoundHelpful{onTrace(bob, "a")}, FoundHelpful{onTrace(bob, "b")}}},
		{1.5 / 3.5, []Fact{FoundHelpful{onTrace(bob, "a")}, FoundHarmful{onTrace(bob, "b")}, FoundHarmful{onTrace(bob, "c")}}},
		{1.5 / 2, []Fact{FoundHelpful{onTrace(alice, "a")}, FoundHelpful{onTrace(bot, "b")}, FoundHelpful{onDay(alice, "c")}}},
		{1.5 / 2, []Fact{ // the first vote came before its key was known to act for the owner
			FoundHelpful{onTrace(eve, "a")},
			FoundHelpful{onTrace(alice, "b")},
			FoundHelpful{Ballot{Voter: eve, Key: "trace:c", TraceID: "c", ActsFor: alice}},
			FoundHelpful{onTrace(eve, "d")},
		}},
		{4.5 / 5, []Fact{
			FoundHelpful{onTrace(alice, "a")},
			FoundHelpful{onTrace(bob, "b")},
			FoundHelpful{onTrace(eve, "c")},
			FoundHelpful{onTrace("user:zoe", "d")},
		}},
		{3.5 / 5, []Fact{ // said again in three sessions
			FoundHelpful{Ballot{Voter: alice, Key: "session:a"}},
			FoundHelpful{Ballot{Voter: alice, Key: "session:b"}},
			FoundHelpful{Ballot{Voter: alice, Key: "session:c"}},
			FoundHarmful{onTrace(bob, "d")},
			FoundHarmful{onTrace(bob, "e")},
			FeedbackRetracted{Vote: eventID(5)},
		}},
		{2 / 2.5, []Fact{FoundHelpful{onTrace(alice, "a")}, FoundHelpful{onTrace(alice, "b")}, Transferred{Owner: eve}}},
	} {
		if got := given(t, item).and(itemID, c.facts...).item(itemID).Confidence; got != c.want {
			t.Errorf("%v: got %v, want %v", c.facts, got, c.want)
		}
	}
}

func TestConfidenceIsAShareThatEveryVoiceMovesItsWay(t *testing.T) {
	t.Parallel()
	const rounding = 1e-12
	rapid.Check(t, func(t *rapid.T) {
		confidence := rapid.SampledFrom(ConfidencePolicies()).Draw(t, "policy").Confidence
		helpful, harmful := rapid.IntRange(0, 1e9).Draw(t, "helpful"), rapid.IntRange(0, 1e9).Draw(t, "harmful")
		reporters := rapid.IntRange(0, 5000).Draw(t, "reporters")
		c := confidence(helpful, harmful, reporters)
		if !(c >= 0 && c <= 1) {
			t.Fatalf("got %v, want 0 to 1", c)
		}
		if more := confidence(helpful+1, harmful, reporters); more < c-rounding {
			t.Errorf("a voice for it: from %v to %v", c, more)
		}
		if less := confidence(helpful, harmful+1, reporters); less > c+rounding {
			t.Errorf("a voice against it: from %v to %v", c, less)
		}
		if less := confidence(helpful, harmful, reporters+1); less > c+rounding {
			t.Errorf("a doubt: from %v to %v", c, less)
		}
	})
}

func TestFewVoicesSayLittleToTheCautious(t *testing.T) {
	t.Parallel()
	policy := CautiousConfidence()
	for _, c := range []struct {
		helpful, harmful, reporters int
		want                        float64
	}{
		{1, 0, 0, 0.5}, {5, 0, 0, 5.0 / 6}, {1, 1, 0, 0.2113}, {50, 50, 0, 0.45025}, {0, 0, 0, 0}, {0, 9, 0, 0}, {1, 0, 1, 0.25},
	} {
		if got := policy.Confidence(c.helpful, c.harmful, c.reporters); math.Abs(got-c.want) > 5e-5 {
			t.Errorf("%d for, %d against, %d doubts: got %v, want %v", c.helpful, c.harmful, c.reporters, got, c.want)
		}
	}
	if policy.Name != "wilson/1" {
		t.Errorf("the policy is called %s: another formula needs another name, and a rebuild", policy.Name)
	}
}
