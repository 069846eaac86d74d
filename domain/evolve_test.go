package domain_test

import (
	"testing"
	"time"

	. "github.com/annals-kb/annals/domain"
)

// evolve folds a fact at a version into a copy of the item.
func evolve(k *Knowledge, fact Fact, version int64) error {
	return k.Evolve(fact, EventMetadata{EventID: eventID(version), Position: version, Version: version, RecordedAt: monday}, DefaultConfidence())
}

type stranger struct{ Fact }

func (stranger) Name() string { return "weather.changed" }

func TestFoldingRefusesWhatCannotHaveHappened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		before  []Fact
		fact    Fact
		version int64
	}{
		{"a version left out", []Fact{remembered()}, Deleted{}, 3},
		{"a version twice", []Fact{remembered()}, Deleted{}, 1},
		{"another beginning", nil, Revised{Task: new("x")}, 1},
		{"a second beginning", []Fact{remembered()}, remembered(), 2},
		{"a vote replaced that was never given", []Fact{remembered()}, FoundHelpful{replacing(9, onTrace(bob, "t"))}, 2},
		{"a vote against replacing nothing", []Fact{remembered()}, FoundHarmful{replacing(1, onTrace(bob, "t"))}, 2},
		{"a retraction of nothing", []Fact{remembered()}, FeedbackRetracted{Vote: eventID(9)}, 2},
		{"a vote retracted twice", []Fact{remembered(), FoundHelpful{onTrace(bob, "t")}, FeedbackRetracted{Vote: eventID(2)}}, FeedbackRetracted{Vote: eventID(2)}, 4},
		{"a fact about something else", []Fact{remembered()}, stranger{}, 2},
	} {
		k := given(t, c.before...).item(itemID)
		before := *k
		if err := evolve(k, c.fact, c.version); err == nil {
			t.Errorf("%s: folded", c.what)
		}
		if k.Version != before.Version || k.Helpful != before.Helpful || k.Revision != before.Revision || len(k.Votes) != len(before.Votes) {
			t.Errorf("%s: an error changed the state from %+v to %+v", c.what, before, *k)
		}
	}
}

func TestTimesFollowTheEnvelope(t *testing.T) {
	t.Parallel()
	happened := monday.AddDate(-1, 0, 0)
	k := &Knowledge{ID: itemID}
	fold := func(fact Fact, version int64, at time.Time) {
		t.Helper()
		if err := k.Evolve(fact, EventMetadata{EventID: eventID(version), Position: 40 + version, Version: version, RecordedAt: at, OccurredAt: happened}, DefaultConfidence()); err != nil {
			t.Fatal(err)
		}
	}
	fold(remembered(), 1, monday)
	fold(FoundHelpful{onTrace(bob, "t")}, 2, monday.Add(time.Hour))
	if !k.CreatedAt.Equal(monday) || !k.OccurredAt.Equal(happened) || !k.UpdatedAt.Equal(monday) || k.Number != 41 || k.Position != 42 {
		t.Errorf("after a vote: %+v", k)
	}
	fold(Revised{Task: new("x")}, 3, monday.Add(2*time.Hour))
	if !k.CreatedAt.Equal(monday) || !k.UpdatedAt.Equal(monday.Add(2*time.Hour)) || k.Number != 41 || k.Position != 43 {
		t.Errorf("after a revision: %+v", k)
	}
}

func TestTheStateDoesNotShareItsScopesWithTheFact(t *testing.T) {
	t.Parallel()
	fact := remembered()
	k := given(t, fact).item(itemID)
	fact.Scopes[0] = "user:eve"
	if k.Scopes[0] != alice.Scope() {
		t.Errorf("changing the fact changed the state to %v", k.Scopes)
	}
}
