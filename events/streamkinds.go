package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// streamKinds are the kinds of streams other than knowledge, by the part of their names before the colon. The number
// is the version of the stored form of a state. Increase it whenever the state's type or its folding changes: states
// in another form are computed again. Golden files in testdata/states contain every form.
var streamKinds = map[string]streamKind{
	"key":          keptAs[domain.Key](2),
	"user":         keptAs[domain.MemberEntry](2),
	"agent":        keptAs[domain.MemberEntry](2),
	"project":      keptAs[domain.MemberEntry](2),
	"team":         keptAs[domain.MemberEntry](2),
	"org":          keptAs[domain.MemberEntry](2),
	"tenant":       keptAs[domain.Tenant](2),
	"session":      keptAs[domain.Session](1),
	"scrubbing":    keptAs[domain.Scrubbing](1),
	"learning":     keptAs[domain.LearningChanged](1),
	"erasure":      keptAs[domain.Erasure](1),
	"projection":   keptAs[domain.Projection](1),
	"verification": keptAs[domain.Verification](1),
	"review":       keptAs[domain.Proposal](1),

	"subscription": keptAs[domain.Subscription](1),
}

// streamKind says how the states of a kind are stored.
type streamKind struct {
	form int
	none domain.State // the state of a stream without facts
	read func(kept []byte) (domain.State, error)
}

func keptAs[S domain.State](form int) streamKind {
	var none S
	return streamKind{form: form, none: none, read: func(kept []byte) (domain.State, error) {
		var state S
		decoder := json.NewDecoder(bytes.NewReader(kept))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&state)
		return state, err
	}}
}

func kindOfStream(name string) streamKind {
	prefix, _, _ := strings.Cut(name, ":")
	if kind, known := streamKinds[prefix]; known {
		return kind
	}
	return streamKind{none: unknown{}, read: func([]byte) (domain.State, error) { return nil, codec.ErrUnknownFact }}
}

// unknown is the state of streams that only a newer program can read.
type unknown struct{}

func (unknown) Evolve(domain.Fact, domain.EventMetadata) (domain.State, error) {
	return nil, fmt.Errorf("%w: no such kind of stream", codec.ErrUnknownFact)
}
