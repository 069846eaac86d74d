package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

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

// readStored reads the stored state of a stream.
func readStored(kind domain.StreamKind, stored []byte) (domain.State, error) {
	state := reflect.New(reflect.TypeOf(kind.State))
	decoder := json.NewDecoder(bytes.NewReader(stored))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(state.Interface())
	return state.Elem().Interface().(domain.State), err
}

// unknown is the state of streams that only a newer program can read.
type unknown struct{}

func (unknown) Evolve(domain.Fact, domain.EventMetadata) (domain.State, error) {
	return nil, fmt.Errorf("%w: no such kind of stream", codec.ErrUnknownFact)
}
