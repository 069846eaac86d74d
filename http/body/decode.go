package body

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
)

// decoder takes the next value into v, or notes why it cannot.
type decoder func(r *reader, v reflect.Value)

func newDecoder(t reflect.Type) decoder {
	form, several := Forms[t]
	if !several {
		form = t
	}
	switch {
	case reflect.PointerTo(form).Implements(reflect.TypeFor[selfDecoding]()):
		return func(r *reader, v reflect.Value) {
			v.Addr().Convert(reflect.PointerTo(form)).Interface().(selfDecoding).decode(r)
		}
	case reflect.PointerTo(t).Implements(reflect.TypeFor[nullable]()):
		return decodeNullable(t)
	case t == reflect.TypeFor[time.Time]():
		return decodeTime
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return decodeUnmarshaler
	}
	switch t.Kind() {
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int64:
		return decodeInt
	case reflect.Float32, reflect.Float64:
		return decodeFloat
	case reflect.Pointer:
		return decodePointer(t)
	case reflect.Slice:
		return decodeSlice(t)
	case reflect.Struct:
		return decodeStruct(t)
	}
	panic("body: bodies cannot hold " + t.String())
}

// selfDecoding types know more than one form of themselves.
type selfDecoding interface{ decode(r *reader) }

// Decode reads a body into a T. It notes bad values in problems; the error means that the body is no JSON object.
//
// It is strict, so that a mistake is named instead of ignored: names are matched exactly, unknown and repeated ones
// are refused, nothing is converted. null is the same as leaving a field out, unless the type is an [Optional].
// Fields tagged readOnly are accepted and ignored, so that what was read can be written again.
func Decode[T any](body []byte, problems *domain.Problems) (T, error) {
	var into T
	return into, (&reader{data: body, problems: problems}).object(&into)
}

// Fill reads a body into the struct that into points to. Fields that the body does not have keep their values. Unlike
// [Decode] it ignores unknown fields, and of a repeated field the last value counts.
func Fill(body []byte, into any, problems *domain.Problems) error {
	return (&reader{data: body, problems: problems, lenient: true}).object(into)
}

func (r *reader) object(into any) error {
	if err := checkJSON(r.data); err != nil {
		return err
	}
	if r.path = make([]step, 0, 4); r.peek() != '{' {
		r.note("must be a JSON object")
		return r.problems.Err()
	}
	value := reflect.ValueOf(into).Elem()
	decoderOf(value.Type())(r, value)
	return nil
}

// decoders caches the decoder of each type.
var decoders sync.Map // of decoder, by reflect.Type

// Prepare makes the decoder of a type. It panics for a type that a body cannot hold.
func Prepare(t reflect.Type) { decoderOf(t) }

func decoderOf(t reflect.Type) decoder {
	if known, ok := decoders.Load(t); ok {
		return known.(decoder)
	}
	made := newDecoder(t)
	decoders.Store(t, made)
	return made
}

func decodeString(r *reader, v reflect.Value) {
	if r.peek() != '"' {
		r.note("must be a string")
		r.value()
		return
	}
	v.SetString(r.unquote(r.quoted()))
}

func decodeBool(r *reader, v reflect.Value) {
	switch string(r.value()) {
	case "true":
		v.SetBool(true)
	case "false":
		v.SetBool(false)
	default:
		r.note("must be true or false")
	}
}

func decodeInt(r *reader, v reflect.Value) {
	written := r.value()
	n, err := strconv.ParseInt(string(written), 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(string(written), 64)
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			r.note("must be a whole number")
			return
		}
		n = int64(f)
	}
	v.SetInt(n)
}

func decodeFloat(r *reader, v reflect.Value) {
	f, err := strconv.ParseFloat(string(r.value()), v.Type().Bits())
	if err != nil {
		r.note("must be a number")
		return
	}
	v.SetFloat(f)
}

func decodeTime(r *reader, v reflect.Value) {
	const wanted = "must be a time such as 2026-03-01T12:00:00Z"
	if r.peek() != '"' {
		r.note(wanted)
		r.value()
		return
	}
	t, err := domain.ParseTimeAhead(r.unquote(r.quoted()), time.Now().UTC())
	if err != nil {
		r.note(wanted)
		return
	}
	v.Set(reflect.ValueOf(t.UTC()))
}

func decodePointer(t reflect.Type) decoder {
	inner := decoderOf(t.Elem())
	return func(r *reader, v reflect.Value) {
		v.Set(reflect.New(t.Elem()))
		inner(r, v.Elem())
	}
}

func decodeSlice(t reflect.Type) decoder {
	inner := decoderOf(t.Elem())
	return func(r *reader, v reflect.Value) {
		if r.peek() != '[' {
			r.note("must be an array")
			r.value()
			return
		}
		v.Set(reflect.MakeSlice(t, 0, 4))
		r.elements(func(i int) {
			r.enter(step{index: i})
			v.Grow(1)
			v.SetLen(i + 1)
			inner(r, v.Index(i))
			r.leave()
		})
	}
}

// decodeUnmarshaler calls the UnmarshalJSON of a type that accepts a single value or an array.
func decodeUnmarshaler(r *reader, v reflect.Value) {
	if v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(r.value()) != nil {
		r.note("must be an array")
	}
}

// member is a field of a struct as JSON knows it.
type member struct {
	name     string
	number   int
	index    []int
	read     decoder
	readOnly bool
	nullable bool
	filled   bool // may be left out, but not be empty
	notNull  bool // may be left out, but not be null: the zero value is out of its range
}

// NoField is the problem of a field that the body may not have.
const NoField = "is not a field here"

func decodeStruct(t reflect.Type) decoder {
	known := map[string]member{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" { // embedded, or not in the body
			continue
		}
		m := member{
			name: name, number: len(known), index: f.Index, readOnly: f.Tag.Get("readOnly") == "true",
			filled: options == "omitempty" && f.Tag.Get("minLength") == "1",
		}
		if !m.readOnly {
			m.read = decoderOf(f.Type)
			m.nullable = reflect.PointerTo(f.Type).Implements(reflect.TypeFor[nullable]())
			m.notNull = f.Type.Kind() == reflect.Pointer && f.Tag.Get("nullable") == "false"
		}
		known[name] = m
	}
	return func(r *reader, v reflect.Value) {
		if r.peek() != '{' {
			r.note("must be an object")
			r.value()
			return
		}
		var seen uint64
		r.members(func(name []byte) {
			m, found := known[string(name)]
			if !found {
				m.name = Shorten(string(name))
			}
			r.enter(step{name: m.name})
			defer r.leave()
			switch again := seen&(1<<m.number) != 0; {
			case !found:
				if !r.lenient {
					r.note(NoField)
				}
				r.value()
			case again && !r.lenient:
				r.note("is given twice")
				r.value()
			case m.readOnly:
				r.value()
			case m.notNull && r.null():
				v.FieldByIndex(m.index).Set(reflect.New(v.FieldByIndex(m.index).Type().Elem()))
			case !m.nullable && r.null():
			case m.filled && r.blank():
				r.note(Empty)
			default:
				m.read(r, v.FieldByIndex(m.index))
			}
			if found {
				seen |= 1 << m.number
			}
		})
	}
}

// Shorten shortens a name that the caller chose.
func Shorten(name string) string {
	const most = 64
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	if name == "" {
		return `""`
	}
	return name
}
