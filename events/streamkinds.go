package events

import (
	"fmt"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// kindOfStream is the kind of a stream whose states are stored.
func kindOfStream(name string) domain.StreamKind {
	if kind := domain.KindOfStream(name); kind.State != nil {
		return kind
	}
	return domain.StreamKind{State: unknown{}}
}

// unknown is the state of streams that only a newer program can read.
type unknown struct{}

func (unknown) Evolve(domain.Fact, domain.EventMetadata) (domain.State, error) {
	return nil, fmt.Errorf("%w: no such kind of stream", codec.ErrUnknownFact)
}
