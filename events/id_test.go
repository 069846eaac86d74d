package events

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestIdsAscendWhateverTheClockDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var g ids
		start := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
		before := g.last
		for i := range 20 {
			at := start.Add(time.Duration(rapid.Int64Range(-5, 5).Draw(t, "ms")) * time.Millisecond)
			first := i == 0 || rapid.Bool().Draw(t, "first")
			id := g.next(at, first)
			if bytes.Compare(id[:], before[:]) <= 0 {
				t.Fatalf("%s comes after %s", id, before)
			}
			if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
				t.Fatalf("%s is no UUIDv7", id)
			}
			if follows(before.String(), id.String()) == first && before != (uuid.UUID{}) {
				t.Fatalf("%s, %s: first of its command: %v", before, id, first)
			}
			before = id
		}
	})
}

func TestAnIdSaysWhenItsEventWasRecorded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 12, 30, 15, 678_000_000, time.UTC)
	var g ids
	seconds, nanoseconds := g.next(at, true).Time().UnixTime()
	if got := time.Unix(seconds, nanoseconds).UTC(); !got.Equal(at) {
		t.Errorf("got %v, want %v", got, at)
	}
}

func TestCountingIdsCarriesIntoTheTime(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"01950000-0000-7000-8000-000000000000": "01950000-0000-7000-8000-000000000001",
		"01950000-0000-7000-bfff-ffffffffffff": "01950000-0000-7001-8000-000000000000",
		"01950000-0000-7fff-bfff-ffffffffffff": "01950000-0001-7000-8000-000000000000",
	} {
		if got := plus(uuid.MustParse(id), 1).String(); got != want {
			t.Errorf("after %s: got %s, want %s", id, got, want)
		}
		if !follows(id, want) {
			t.Errorf("%s does not follow %s", want, id)
		}
	}
}
