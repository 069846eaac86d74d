package codec

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/annals-kb/annals/domain"
)

// State reads a state of a kind of streams that [Marshal] wrote.
func State(kind domain.StreamKind, stored []byte) (domain.State, error) {
	state := reflect.New(reflect.TypeOf(kind.State))
	decoder := json.NewDecoder(bytes.NewReader(stored))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(state.Interface())
	return state.Elem().Interface().(domain.State), err
}
