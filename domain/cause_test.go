package domain_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

func TestCausesAreFollowedBackToTheRootAndNotForEver(t *testing.T) {
	t.Parallel()
	known := map[string]Event{
		"b": {EventID: "b", CausationID: "c"}, "c": {EventID: "c", CausationID: "file:x:1"},
		"round": {EventID: "round", CausationID: "about"}, "about": {EventID: "about", CausationID: "round"},
	}
	for i := range 3 * MaxCauses {
		id := fmt.Sprint("long", i)
		known[id] = Event{EventID: id, CausationID: fmt.Sprint("long", i+1)}
	}
	for begin, want := range map[string][]string{
		"": nil, "b": {"b", "c", "file:x:1"}, "word": {"word"}, "round": {"round", "about"},
	} {
		var got []string
		for _, cause := range CausesOf(Event{EventID: "a", CausationID: begin}, known) {
			got = append(got, cause.ID)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("from %q (-got +want):\n%s", begin, diff)
		}
	}
	if got := len(CausesOf(Event{CausationID: "long0"}, known)); got != MaxCauses {
		t.Errorf("followed %d steps back", got)
	}
}

func TestASessionIsItsUsersOwn(t *testing.T) {
	t.Parallel()
	alice := Principal{Subject: "user:alice", Role: Member}
	for stream, want := range map[string]bool{
		"session:alice/1": true, "session:bob/1": false, "session:alice": false, "knowledge:alice": false, "session:": false,
	} {
		if got := alice.MaySeeSession(stream); got != want {
			t.Errorf("%s: %t", stream, got)
		}
	}
}
