package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/annals-kb/annals/domain"
)

// Payload is a fact written down.
type Payload struct {
	Name          string
	SchemaVersion int
	Data          json.RawMessage // the plain fields
	Text          json.RawMessage // what people wrote; nil if they wrote nothing
}

// kind is how the facts of one name are written down and read back.
type kind struct {
	version   int // the schema version that is written today
	write     func(domain.Fact) (data, text any)
	read      func(data, text json.RawMessage) (domain.Fact, error)
	upcasters []upcaster // upcasters[i] turns version i+1 into version i+2
}

// upcaster turns what an older schema version wrote into what the next one would have written.
// text is nil if there was none or if it was destroyed.
type upcaster func(data, text json.RawMessage) (newData, newText json.RawMessage, err error)

// codec is every kind that can be recorded, by the names of their facts.
type codec map[string]kind

// Encode writes a fact down. The bytes are recorded and hashed as they are.
func Encode(fact domain.Fact) (Payload, error) { return kinds.encode(fact) }

func (c codec) encode(fact domain.Fact) (Payload, error) {
	k, known := c[fact.Name()]
	if !known {
		return Payload{}, fmt.Errorf("encode %s: %w", fact.Name(), ErrUnknownFact)
	}
	data, text := k.write(fact)
	p := Payload{Name: fact.Name(), SchemaVersion: k.version}
	var err error
	if p.Data, err = marshal(data); err != nil {
		return Payload{}, fmt.Errorf("encode %s: %w", fact.Name(), err)
	}
	if p.Text, err = marshal(text); err != nil {
		return Payload{}, fmt.Errorf("encode text of %s: %w", fact.Name(), err)
	}
	if string(p.Text) == "{}" {
		p.Text = nil
	}
	return p, nil
}

// Decode reads a fact of any schema version up to today's. Without its text the fact's text fields
// are empty. The error matches [ErrUnknownFact] if a newer program wrote it.
func Decode(p Payload) (domain.Fact, error) { return kinds.decode(p) }

func (c codec) decode(p Payload) (domain.Fact, error) {
	k, known := c[p.Name]
	if !known {
		return nil, fmt.Errorf("%w: %q, which this one does not know", ErrUnknownFact, p.Name)
	}
	return k.decode(p)
}

func (k kind) decode(p Payload) (domain.Fact, error) {
	if p.SchemaVersion < 1 || p.SchemaVersion > k.version {
		return nil, fmt.Errorf("%w: %s has schema version %d, this one knows 1 to %d",
			ErrUnknownFact, p.Name, p.SchemaVersion, k.version)
	}
	data, text := p.Data, p.Text
	for v := p.SchemaVersion; v < k.version; v++ {
		var err error
		if data, text, err = k.upcasters[v-1](data, text); err != nil {
			return nil, fmt.Errorf("upcast %s from schema version %d: %w", p.Name, v, err)
		}
	}
	fact, err := k.read(data, text)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", p.Name, err)
	}
	return fact, nil
}

// apart is a kind whose facts have text.
func apart[F domain.Fact, D, T any](split func(F) (D, T), join func(D, T) F) kind {
	dataAs, textAs := formOf(reflect.TypeFor[D]()), formOf(reflect.TypeFor[T]())
	return kind{
		version: 1,
		write:   func(fact domain.Fact) (any, any) { return split(fact.(F)) },
		read: func(data, text json.RawMessage) (domain.Fact, error) {
			var d D
			var t T
			if err := dataAs.unmarshal(data, &d); err != nil {
				return nil, err
			}
			if text != nil {
				if err := textAs.unmarshal(text, &t); err != nil {
					return nil, err
				}
			}
			return join(d, t), nil
		},
	}
}

// nothing is the text of facts that never have any.
type nothing struct{}

// plain is a kind whose facts have no text.
func plain[F domain.Fact, D any](split func(F) D, join func(D) F) kind {
	return apart(
		func(f F) (D, nothing) { return split(f), nothing{} },
		func(d D, _ nothing) F { return join(d) },
	)
}

// marshal leaves <, > and & as they are: events are meant to be read by people.
func marshal(value any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
