package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
)

// side is one of the two JSON objects of an event, and the struct tag that puts a field into it:
//
//	Owner Entity `data:"owner"`
//	Task  string `text:"task,omitempty"`
//
// The options omitempty and omitzero are those of encoding/json. The option list writes a nil slice as
// []. A struct without a tag is written as if its fields stood in its place. The name * marks the field
// whose value is the whole object.
type side string

const (
	data side = "data" // plain fields, kept for ever
	text side = "text" // what people wrote, which can be erased
)

// mapping encodes the values of a type on one side. wire is a type with json tags for encoding/json.
type mapping struct {
	wire  reflect.Type
	write func(from, wire reflect.Value)
	read  func(wire, to reflect.Value)
}

// structMapping maps the tagged fields of a struct; nil if it has none on this side.
func structMapping(t reflect.Type, s side) *mapping {
	var columns []reflect.StructField
	var fields []field
	collect(t, s, nil, &fields)
	for i, f := range fields {
		if f.name == "*" {
			return wholeMapping(f)
		}
		columns = append(columns, reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: f.wire, Tag: reflect.StructTag(fmt.Sprintf("json:%q", f.name+f.options)),
		})
	}
	if len(fields) == 0 {
		return nil
	}
	return &mapping{
		wire: reflect.StructOf(columns),
		write: func(from, wire reflect.Value) {
			for i := range fields {
				fields[i].write(from.FieldByIndex(fields[i].index), wire.Field(i))
			}
		},
		read: func(wire, to reflect.Value) {
			for i := range fields {
				fields[i].read(wire.Field(i), to.FieldByIndex(fields[i].index))
			}
		},
	}
}

// field is a tagged field of a struct, or of an untagged struct in it.
type field struct {
	*mapping
	index         []int
	name, options string
}

// collect finds the fields of one side, in the order of writing.
func collect(t reflect.Type, s side, path []int, fields *[]field) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(path), i)
		tag, tagged := f.Tag.Lookup(string(s))
		switch {
		case tagged:
			name, options, _ := strings.Cut(tag, ",")
			_, both := f.Tag.Lookup(string(data))
			m := mappingOf(f.Type, s, both && s == text)
			if options == "list" {
				m, options = listMapping(m), ""
			}
			if options != "" {
				options = "," + options
			}
			*fields = append(*fields, field{mapping: m, index: index, name: name, options: options})
		case f.Type.Kind() == reflect.Struct && f.Tag == "":
			collect(f.Type, s, index, fields)
		}
	}
}

// mappingOf maps the values of a field. An overlay is the text of a field that also has data. It is written only if
// it has content, and decoded into the value that the data made.
func mappingOf(t reflect.Type, s side, overlay bool) *mapping {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &mapping{
			wire:  reflect.TypeFor[database.Time](),
			write: func(from, wire reflect.Value) { wire.Set(reflect.ValueOf(database.At(from.Interface().(time.Time)))) },
			read:  func(wire, to reflect.Value) { to.Set(wire.Field(0)) },
		}
	case reflect.TypeFor[time.Duration](): // seconds, with six decimals at most
		return &mapping{
			wire:  reflect.TypeFor[float64](),
			write: func(from, wire reflect.Value) { wire.SetFloat(float64(time.Duration(from.Int()).Microseconds()) / 1e6) },
			read: func(wire, to reflect.Value) {
				to.SetInt(int64(time.Duration(wire.Float() * float64(time.Second)).Round(time.Microsecond)))
			},
		}
	}
	switch element := elementOf(t); {
	case element == nil:
	case t.Kind() == reflect.Struct:
		if m := structMapping(t, s); m != nil {
			return m
		}
	case t.Kind() == reflect.Pointer:
		if m := structMapping(element, s); m != nil {
			return pointerMapping(m, overlay)
		}
	default:
		if m := structMapping(element, s); m != nil {
			return sliceMapping(t, m, overlay)
		}
	}
	set := func(from, to reflect.Value) { to.Set(from) }
	return &mapping{wire: t, write: set, read: set}
}

// elementOf is the struct type itself, behind a pointer, or of a list's elements; nil for other types.
func elementOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func pointerMapping(element *mapping, overlay bool) *mapping {
	return &mapping{
		wire: reflect.PointerTo(element.wire),
		write: func(from, wire reflect.Value) {
			if from.IsNil() {
				return
			}
			written := reflect.New(element.wire)
			element.write(from.Elem(), written.Elem())
			if !overlay || !written.Elem().IsZero() {
				wire.Set(written)
			}
		},
		read: func(wire, to reflect.Value) {
			if wire.IsNil() || overlay && to.IsNil() {
				return
			}
			if !overlay {
				to.Set(reflect.New(to.Type().Elem()))
			}
			element.read(wire.Elem(), to.Elem())
		},
	}
}

func sliceMapping(t reflect.Type, element *mapping, overlay bool) *mapping {
	return &mapping{
		wire: reflect.SliceOf(element.wire),
		write: func(from, wire reflect.Value) {
			if from.Len() == 0 {
				return
			}
			written, isZero := reflect.MakeSlice(wire.Type(), from.Len(), from.Len()), true
			for i := range from.Len() {
				element.write(from.Index(i), written.Index(i))
				isZero = isZero && written.Index(i).IsZero()
			}
			if !overlay || !isZero {
				wire.Set(written)
			}
		},
		read: func(wire, to reflect.Value) {
			if !overlay && wire.Len() > 0 {
				to.Set(reflect.MakeSlice(t, wire.Len(), wire.Len()))
			}
			for i := range min(wire.Len(), to.Len()) {
				element.read(wire.Index(i), to.Index(i))
			}
		},
	}
}

// listMapping writes a nil slice as [].
func listMapping(m *mapping) *mapping {
	write := m.write
	return &mapping{wire: m.wire, read: m.read, write: func(from, wire reflect.Value) {
		if write(from, wire); wire.IsNil() {
			wire.Set(reflect.MakeSlice(m.wire, 0, 0))
		}
	}}
}

// wholeMapping maps a struct to one of its fields, which is JSON already. It writes nil as null.
func wholeMapping(f field) *mapping {
	return &mapping{
		wire:  reflect.TypeFor[json.RawMessage](),
		write: func(from, wire reflect.Value) { wire.Set(from.FieldByIndex(f.index)) },
		read: func(wire, to reflect.Value) {
			if string(wire.Bytes()) != "null" {
				to.FieldByIndex(f.index).Set(wire)
			}
		},
	}
}
