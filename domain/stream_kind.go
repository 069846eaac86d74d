package domain

import (
	"errors"
	"fmt"
	"strings"
)

// StreamKind declares the streams about one noun. It stands beside the type of their state. What depends on the kind of
// a stream is derived from it.
type StreamKind struct {
	Name  string // the part of a stream's name before the colon
	Facts []Fact // that only such streams have, without values
	State State  // without facts; nil for items, which are rows of a projection

	// Form is the version of the stored form of a state. Increase it whenever the state's type or its folding changes:
	// states in another form are computed again. Golden files in events/codec/testdata/states contain every form.
	Form int

	KeepsRights bool // no fact changes what a caller may read, whichever item it is
}

// StreamKinds are all kinds of streams.
var StreamKinds = []StreamKind{
	KnowledgeStreams, SessionStreams, KeyStreams, TenantStreams, ErasureStreams, ProjectionStreams, ScrubbingStreams,
	LearningStreams, VerificationStreams, ProposalStreams, SubscriptionStreams, ReceiptStreams, ContainmentStreams,
	MemberStreams(User), MemberStreams(Project), MemberStreams(Agent), MemberStreams(Team), MemberStreams(Org),
}

// Facts are all facts: those that any stream can have, and those of each kind.
func Facts() []Fact {
	all := []Fact{Redacted{}, TextsErased{}}
	for _, kind := range StreamKinds {
		all = append(all, kind.Facts...)
	}
	return all
}

// Of is the stream with this id.
func (k StreamKind) Of(id string) string { return k.Name + ":" + id }

// Has tells whether a stream is of this kind.
func (k StreamKind) Has(stream string) bool {
	return strings.HasPrefix(stream, k.Name) && strings.HasPrefix(stream[len(k.Name):], ":")
}

// ID is the id of a stream of this kind; empty for any other stream.
func (k StreamKind) ID(stream string) string {
	if k.Has(stream) {
		return stream[len(k.Name)+1:]
	}
	return ""
}

// KindOfStream is the kind of a stream, without a name if only a newer program knows it.
func KindOfStream(name string) StreamKind {
	for i := range StreamKinds {
		if StreamKinds[i].Has(name) {
			return StreamKinds[i]
		}
	}
	return StreamKind{}
}

// CheckStream returns an error that describes the valid names, if name is not one of them.
func CheckStream(name string) error {
	switch kind := KindOfStream(name); {
	case kind.ID(name) != "":
		return nil
	case kind.Name == "" && IsItemID(name):
		return errors.New("must say what it is of: knowledge:ID, if this is the id of an item")
	}
	var kinds []string
	for _, kind := range StreamKinds {
		kinds = append(kinds, kind.Name)
	}
	return fmt.Errorf("must be such as knowledge:ID, and begin with one of %s", strings.Join(kinds, ", "))
}
