package domain_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

func TestAnOrderLeavesWhatIsHeldWhatIsAnothersAndSessionsOfSuchArchives(t *testing.T) {
	t.Parallel()
	const name = "session:1/planning"
	session := Session{Archives: 1, Owner: "user:1"}
	archive := session.ArchiveItems(name)[0]
	item := func(id string, owner Entity, held, goes bool) ErasureTarget {
		return ErasureTarget{Stream: KnowledgeStream(id), ID: id, Owner: owner, Held: held, WillErase: goes}
	}
	all := []ErasureTarget{
		item(archive, "user:1", true, true), item("free", "user:1", false, true), item("related", "user:1", true, false), item("theirs", "team:pay", true, true),
		{Stream: name, State: session, Owner: "user:1", WillErase: true},
		{Stream: "session:1/other", State: session, Owner: "user:1", WillErase: true},
		{Stream: "key:abc", State: Key{}, Owner: "user:2", WillErase: true},
	}
	held := map[string]string{
		KnowledgeStream(archive): archive + " is under legal hold", name: "its archive " + archive + " stays",
	}
	with := func(others map[string]string) map[string]string {
		maps.Copy(others, held)
		return others
	}
	for _, c := range []struct {
		by   Principal
		want map[string]string
	}{
		{Principal{Subject: "user:olga", Role: Admin}, with(map[string]string{"knowledge:theirs": "theirs is under legal hold"})},
		{Principal{Subject: "user:1", Role: Member, Memberships: []Entity{"team:pay"}}, with(map[string]string{
			"knowledge:theirs": "theirs may be erased by an admin", "key:abc": "key:abc may be erased by user:2 in person, or by an admin",
		})},
	} {
		if diff := cmp.Diff(Retained(c.by, all), c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.by.Subject, diff)
		}
	}
}
