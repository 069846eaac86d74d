package body

import (
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

// Decode reads a body into a T. It notes bad values in problems; the error says that the body is no JSON object.
//
// It is strict, so that a mistake is named instead of ignored: names are matched exactly, unknown and repeated ones
// are refused, nothing is converted. null is the same as leaving a field out, unless the type is an [Optional].
// Fields tagged readOnly are accepted and ignored, so that what was read can be written again.
func Decode[T any](body []byte, problems *domain.Problems) (T, error) {
	var into T
	if err := checkJSON(body); err != nil {
		return into, err
	}
	r := reader{data: body, problems: problems, path: make([]step, 0, 4)}
	if r.peek() != '{' {
		r.note("must be a JSON object")
		return into, problems.Err()
	}
	decoderOf(reflect.TypeFor[T]())(&r, reflect.ValueOf(&into).Elem())
	return into, nil
}

// decoders are those of the types that were decoded before.
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
	t, err := time.Parse(time.RFC3339, r.unquote(r.quoted()))
	if err != nil || !domain.IsDate(t) {
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

// member is a field of a struct as JSON knows it.
type member struct {
	name     string
	index    int
	read     decoder
	readOnly bool
	nullable bool
	filled   bool // may be left out, and not be empty
	notNull  bool // may be left out, and null is the zero value, which is out of its range
}

// NoField is what is wrong with a field that the body does not have.
const NoField = "is not a field here"

func decodeStruct(t reflect.Type) decoder {
	known := map[string]member{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		m := member{
			name: name, index: i, readOnly: f.Tag.Get("readOnly") == "true",
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
			switch again := seen&(1<<m.index) != 0; {
			case !found:
				r.note(NoField)
				r.value()
			case again:
				r.note("is given twice")
				r.value()
			case m.readOnly:
				r.value()
			case m.notNull && r.null():
				v.Field(m.index).Set(reflect.New(v.Field(m.index).Type().Elem()))
			case !m.nullable && r.null():
			case m.filled && r.blank():
				r.note(Empty)
			default:
				m.read(r, v.Field(m.index))
			}
			if found {
				seen |= 1 << m.index
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
