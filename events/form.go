package events

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// form is how a struct looks as this program writes it down: an object of strings, lists of strings, maps of
// such lists and objects of the same kind, without any space between. What looks like that is read in a fraction of
// the time that encoding/json takes, which looks at everything twice; whatever looks otherwise is left to that. Both
// read the same.
type form struct {
	fields map[string]int // by their names
	reads  []readsForm    // the field of the same place; nil if its values look otherwise
}

// readsForm reads a value that begins at a place, and says where it ends; not ok if it looks otherwise.
type readsForm func(text string, at int, into reflect.Value) (next int, ok bool)

// formOf is how values of a type look; nil for a type whose values look otherwise.
func formOf(kind reflect.Type) *form {
	if kind.Kind() != reflect.Struct || readsItself(kind) || kind.NumField() > 64 {
		return nil
	}
	f := &form{fields: map[string]int{}}
	for i := range kind.NumField() {
		field := kind.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || !field.IsExported() || name == "" || name == "-" {
			return nil
		}
		f.fields[name] = i
		f.reads = append(f.reads, readsFormOf(field.Type))
	}
	return f
}

func readsFormOf(kind reflect.Type) readsForm {
	isText := func(k reflect.Type) bool { return k.Kind() == reflect.String && !readsItself(k) }
	isList := func(k reflect.Type) bool { return k.Kind() == reflect.Slice && !readsItself(k) && isText(k.Elem()) }
	switch {
	case isText(kind):
		return readText
	case kind.Kind() == reflect.Pointer:
		return readPointed(readsFormOf(kind.Elem()))
	case isList(kind):
		return readTexts
	case kind.Kind() == reflect.Map && !readsItself(kind) && isText(kind.Key()) && isList(kind.Elem()):
		return readLists
	}
	if object := formOf(kind); object != nil {
		return object.read
	}
	return nil
}

// readsItself tells whether a type says by itself how it is read.
func readsItself(kind reflect.Type) bool {
	pointer := reflect.PointerTo(kind)
	return pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// unmarshal is [json.Unmarshal] into a pointer to a zero value of the type.
func (f *form) unmarshal(data []byte, into any) error {
	if f != nil {
		text, value := string(data), reflect.ValueOf(into).Elem()
		if next, ok := f.read(text, 0, value); ok && next == len(text) {
			return nil
		}
		value.SetZero()
	}
	return json.Unmarshal(data, into)
}

// read reads an object that begins at a place, and says where it ends; not ok if it looks otherwise.
func (f *form) read(text string, at int, into reflect.Value) (next int, ok bool) {
	var seen uint64
	return each(text, at, '{', '}', func(at int) (int, bool) {
		name, at, ok := quoted(text, at)
		field, known := f.fields[name]
		if !ok || !known || f.reads[field] == nil || seen&(1<<field) != 0 || at >= len(text) || text[at] != ':' {
			return at, false
		}
		seen |= 1 << field
		return f.reads[field](text, at+1, into.Field(field))
	})
}

// each reads what stands between two brackets, part by part, and commas between them.
func each(text string, at int, opens, closes byte, part func(at int) (next int, ok bool)) (next int, ok bool) {
	if at >= len(text) || text[at] != opens {
		return at, false
	}
	if at++; at < len(text) && text[at] == closes {
		return at + 1, true
	}
	for {
		if at, ok = part(at); !ok || at >= len(text) {
			return at, false
		}
		at++
		switch text[at-1] {
		case ',':
		case closes:
			return at, true
		default:
			return at, false
		}
	}
}

// quoted is a string.
func quoted(text string, at int) (s string, next int, ok bool) {
	if at >= len(text) || text[at] != '"' {
		return "", at, false
	}
	at++
	escaped, plain := false, true
	for end := at; end < len(text); end++ {
		switch c := text[end]; {
		case c == '"':
			s, ok = text[at:end], true
			if escaped {
				s, ok = unescaped(s)
			}
			return s, end + 1, ok && (plain || utf8.ValidString(s))
		case c < ' ':
			return "", at, false
		case c == '\\':
			escaped = true
			end++
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return "", at, false
}

// What stands after a backslash, and what that means; code points by their numbers are left out.
const (
	escapeNames    = `"\/bfnrt`
	escapeMeanings = "\"\\/\b\f\n\r\t"
)

// unescaped is what a string stands for; not ok if there are escapes of another kind in it.
func unescaped(s string) (string, bool) {
	var b strings.Builder
	b.Grow(len(s))
	for {
		at := strings.IndexByte(s, '\\')
		if at < 0 {
			b.WriteString(s)
			return b.String(), true
		}
		means := strings.IndexByte(escapeNames, s[at+1])
		if means < 0 {
			return "", false
		}
		b.WriteString(s[:at])
		b.WriteByte(escapeMeanings[means])
		s = s[at+2:]
	}
}

func readText(text string, at int, into reflect.Value) (int, bool) {
	s, at, ok := quoted(text, at)
	into.SetString(s)
	return at, ok
}

// readPointed reads a new value as another one of its type is read, if it is.
func readPointed(reads readsForm) readsForm {
	if reads == nil {
		return nil
	}
	return func(text string, at int, into reflect.Value) (int, bool) {
		pointed := reflect.New(into.Type().Elem())
		into.Set(pointed)
		return reads(text, at, pointed.Elem())
	}
}

func readTexts(text string, at int, into reflect.Value) (int, bool) {
	list := reflect.MakeSlice(into.Type(), 0, 1)
	at, ok := each(text, at, '[', ']', func(at int) (int, bool) {
		s, at, ok := quoted(text, at)
		list = reflect.Append(list, reflect.Zero(list.Type().Elem()))
		list.Index(list.Len() - 1).SetString(s)
		return at, ok
	})
	into.Set(list)
	return at, ok
}

func readLists(text string, at int, into reflect.Value) (int, bool) {
	kind := into.Type()
	lists := reflect.MakeMap(kind)
	at, ok := each(text, at, '{', '}', func(at int) (int, bool) {
		name, at, ok := quoted(text, at)
		if !ok || at >= len(text) || text[at] != ':' {
			return at, false
		}
		key, list := reflect.New(kind.Key()).Elem(), reflect.New(kind.Elem()).Elem()
		key.SetString(name)
		at, ok = readTexts(text, at+1, list)
		lists.SetMapIndex(key, list)
		return at, ok
	})
	into.Set(lists)
	return at, ok
}
