package domain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

func TestALegalHoldKeepsAnItemAndTheSessionThatItIsAnArchiveOf(t *testing.T) {
	t.Parallel()
	const name = "session:1/planning"
	session := Session{Archives: 1}
	archive := session.ArchiveItems(name)[0]
	all := []Doomed{
		{Stream: KnowledgeStream(archive), ID: archive, Held: true, Goes: true},
		{Stream: KnowledgeStream("free"), ID: "free", Goes: true},
		{Stream: KnowledgeStream("related"), ID: "related", Held: true},
		{Stream: name, State: session, Goes: true},
		{Stream: "session:1/other", State: session, Goes: true},
	}
	want := map[string]bool{KnowledgeStream(archive): true, name: true}
	if diff := cmp.Diff(want, Kept(all)); diff != "" {
		t.Error(diff)
	}
}
