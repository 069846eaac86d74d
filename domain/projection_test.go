package domain_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	. "github.com/annals-kb/annals/domain"
)

// projected folds facts about a projection.
func projected(t *testing.T, facts ...Fact) Stream {
	t.Helper()
	s := Stream{Name: ProjectionStream("knowledge"), State: Projection{}}
	for _, fact := range facts {
		if err := s.Evolve(fact, EventMetadata{Version: s.Version + 1, Position: s.Position + 7}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// only is a book with one stream.
type only struct {
	ItemReader
	LogReader
	stream Stream
}

func (b only) Stream(string) Stream { return b.stream }

func TestTheRecordOfAProjectionKnowsWhatIsRead(t *testing.T) {
	t.Parallel()
	got := projected(t,
		ProjectionStarted{Version: 2}, ProjectionLoaded{Version: 2}, ProjectionCaughtUp{Version: 2},
		ProjectionVerified{VerificationResult{Version: 2}}, ProjectionSwitched{Version: 2, From: 1},
		ProjectionStarted{Version: 3}, ProjectionFailed{Version: 3},
		ProjectionStarted{Version: 4}, ProjectionCaughtUp{Version: 4}, ProjectionRefused{VerificationResult{Version: 4}},
		ProjectionStarted{Version: 5}, ProjectionSwitched{Version: 5, From: 2},
		ProjectionRolledBack{Version: 2, From: 5}, ProjectionRetired{Version: 1}, ProjectionStarted{Version: 6}, ProjectionCancelled{Version: 6},
	)
	want := Projection{Version: 6, Stage: StageCancelled, Active: 2, Kept: []int{5}}
	if diff := cmp.Diff(got.State, State(want)); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestWhatTheRecordKnowsIsNotRecordedAgain(t *testing.T) {
	t.Parallel()
	s := projected(t, ProjectionStarted{Version: 2}, ProjectionLoaded{Version: 2})
	for _, c := range []struct {
		name        string
		asked, want []Fact
	}{
		{"a stage that was reached", []Fact{ProjectionStarted{Version: 2}, ProjectionLoaded{Version: 2}}, nil},
		{"some that were not", []Fact{ProjectionLoaded{Version: 2}, ProjectionCaughtUp{Version: 2}}, []Fact{ProjectionCaughtUp{Version: 2}}},
		{"the same twice", []Fact{ProjectionFailed{Version: 2}, ProjectionFailed{Version: 2}}, []Fact{ProjectionFailed{Version: 2}}},
		{"an end and a beginning", []Fact{ProjectionFailed{Version: 2}, ProjectionStarted{Version: 3}}, []Fact{ProjectionFailed{Version: 2}, ProjectionStarted{Version: 3}}},
		{"an older version", []Fact{ProjectionStarted{Version: 1}}, nil},
		{"a version that is not kept", []Fact{ProjectionRetired{Version: 1}}, nil},
		{"of another kind", []Fact{Deleted{}}, nil},
	} {
		got, err := RecordProjection{Projection: "knowledge", Facts: c.asked}.Decide(only{stream: s}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, c.want, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.name, diff)
		}
	}
}

func TestAStreamTakesFactsInOrder(t *testing.T) {
	t.Parallel()
	s := projected(t, ProjectionStarted{Version: 2})
	before := s
	for name, c := range map[string]struct {
		fact    Fact
		version int64
	}{
		"a version twice":     {ProjectionLoaded{Version: 2}, 1},
		"a gap":               {ProjectionLoaded{Version: 2}, 3},
		"a fact that can not": {ProjectionStarted{Version: 2}, 2},
		"another's fact":      {Deleted{}, 2},
	} {
		if err := s.Evolve(c.fact, EventMetadata{Version: c.version}); err == nil || !cmp.Equal(s, before) {
			t.Errorf("%s: got %+v, %v", name, s, err)
		}
	}
}
