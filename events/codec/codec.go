package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/annals-kb/annals/domain"
)

// ErrUnknownFact says that the event's name or schema version is newer than this program. It is a refusal for
// callers.
var ErrUnknownFact error = &domain.Refusal{
	Kind: domain.ErrBroken, Detail: "an event was written by a newer release of annals",
	Fix: "run that release on every server of this database",
}

// Payload is an encoded fact.
type Payload struct {
	Name          string
	SchemaVersion int
	Data          json.RawMessage // the plain fields
	Text          json.RawMessage // what people wrote; nil if there is none
}

// kinds are the encodings of all facts, by name.
type kinds map[string]*kind

// known are the kinds of this program. They are made at first use: most commands need none.
var known = sync.OnceValue(func() kinds { return kindsOf(domain.Facts(), converted(writeRevised, readRevised)) })

// kindsOf are the encodings of facts whose structs have the tags, and others.
func kindsOf(facts []domain.Fact, others ...*kind) kinds {
	all := kinds{}
	for _, fact := range facts {
		all[fact.Name()] = tagged(fact)
	}
	for _, k := range others {
		all[k.name] = k
	}
	return all
}

// kind is the encoding of the facts with one name.
type kind struct {
	name       string
	version    int        // the schema version for new events
	data, text *mapping   // nil for an object without fields
	upcasters  []upcaster // upcasters[i] turns version i+1 into version i+2

	shape reflect.Type                    // the struct that has the tags
	write func(domain.Fact) any           // to that struct
	read  func(reflect.Value) domain.Fact // from that struct
}

// upcaster converts what one schema version wrote to the next version. text is nil if there was none or it was
// erased.
type upcaster func(data, text json.RawMessage) (newData, newText json.RawMessage, err error)

// tagged is the encoding of a fact whose struct has the tags.
func tagged(fact domain.Fact) *kind {
	return kindOf(fact, reflect.TypeOf(fact), func(f domain.Fact) any { return f },
		func(v reflect.Value) domain.Fact { return v.Interface().(domain.Fact) })
}

// converted is the encoding of a fact by way of another struct, which has the tags.
func converted[F domain.Fact, W any](write func(F) W, read func(W) F) *kind {
	return kindOf(*new(F), reflect.TypeFor[W](), func(f domain.Fact) any { return write(f.(F)) },
		func(v reflect.Value) domain.Fact { return read(v.Interface().(W)) })
}

func kindOf(
	f domain.Fact, shape reflect.Type, write func(domain.Fact) any, read func(reflect.Value) domain.Fact,
) *kind {
	return &kind{f.Name(), 1, structMapping(shape, data), structMapping(shape, text), nil, shape, write, read}
}

// Names lists the names of all facts, in order.
func Names() []string { return slices.Sorted(maps.Keys(known())) }

// Encode encodes a fact. The bytes are recorded and hashed unchanged.
func Encode(fact domain.Fact) (Payload, error) { return known().encode(fact) }

func (all kinds) encode(fact domain.Fact) (Payload, error) {
	k, found := all[fact.Name()]
	if !found {
		return Payload{}, fmt.Errorf("encode %s: %w", fact.Name(), ErrUnknownFact)
	}
	p := Payload{Name: k.name, SchemaVersion: k.version}
	from := reflect.ValueOf(k.write(fact))
	var err error
	if p.Data, err = k.data.marshal(from); err != nil {
		return Payload{}, fmt.Errorf("encode %s: %w", k.name, err)
	}
	if p.Text, err = k.text.marshal(from); err != nil {
		return Payload{}, fmt.Errorf("encode text of %s: %w", k.name, err)
	}
	if string(p.Text) == "{}" {
		p.Text = nil
	}
	return p, nil
}

// Decode decodes a fact of any schema version up to the current one. Without its text, the fact's text fields are
// empty. The error matches [ErrUnknownFact] if a newer program wrote the event.
func Decode(p Payload) (domain.Fact, error) { return known().decode(p) }

func (all kinds) decode(p Payload) (domain.Fact, error) {
	k, found := all[p.Name]
	if !found {
		return nil, fmt.Errorf("%w: %q, which this one does not know", ErrUnknownFact, p.Name)
	}
	if p.SchemaVersion < 1 || p.SchemaVersion > k.version {
		return nil, fmt.Errorf("%w: %s has schema version %d, this one knows 1 to %d",
			ErrUnknownFact, p.Name, p.SchemaVersion, k.version)
	}
	for v := p.SchemaVersion; v < k.version; v++ {
		var err error
		if p.Data, p.Text, err = k.upcasters[v-1](p.Data, p.Text); err != nil {
			return nil, fmt.Errorf("upcast %s from schema version %d: %w", p.Name, v, err)
		}
	}
	to := reflect.New(k.shape).Elem()
	err := k.data.unmarshal(p.Data, to)
	if err == nil && p.Text != nil {
		err = k.text.unmarshal(p.Text, to)
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", p.Name, err)
	}
	return k.read(to), nil
}

func (m *mapping) marshal(from reflect.Value) (json.RawMessage, error) {
	if m == nil {
		return json.RawMessage("{}"), nil
	}
	wire := reflect.New(m.wire)
	m.write(from, wire.Elem())
	return Marshal(wire.Interface())
}

func (m *mapping) unmarshal(written []byte, to reflect.Value) error {
	if m == nil {
		return json.Unmarshal(written, &struct{}{})
	}
	wire := reflect.New(m.wire)
	if err := json.Unmarshal(written, wire.Interface()); err != nil {
		return err
	}
	m.read(wire.Elem(), to)
	return nil
}

// Marshal does not escape <, > and &, since people read events.
func Marshal(value any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
