package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// streamKinds are the kinds of streams other than knowledge, by what stands before the colon of their
// names. The number is that of the form in which a state is kept: it grows with every change of the state's
// type, or of what its facts come to, and states that were kept in another form are computed again. A
// golden file in testdata/states holds every form.
var streamKinds = map[string]streamKind{
	"key":        keptAs[domain.Key](1),
	"tenant":     keptAs[domain.Tenant](2),
	"session":    keptAs[domain.Session](1),
	"scrubbing":  keptAs[domain.Scrubbing](1),
	"erasure":    keptAs[domain.Erasure](1),
	"projection": keptAs[domain.Projection](1),
}

// streamKind is how what the streams of a kind come to is kept.
type streamKind struct {
	form int
	none domain.State // of a stream without facts
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

// unknown is the state of streams that only a newer program knows.
type unknown struct{}

// Evolve implements [domain.State].
func (unknown) Evolve(domain.Fact, domain.EventMetadata) (domain.State, error) {
	return nil, fmt.Errorf("%w: no such kind of stream", codec.ErrUnknownFact)
}
