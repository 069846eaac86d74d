package body

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// Tags decode and document [api.Tags]. Read, they may also be an array of strings: those become the values of "labels".
type Tags api.Tags

func (t *Tags) decode(r *reader) {
	switch r.peek() {
	case '{':
		*t = Tags{}
		r.members(func(written []byte) {
			name := string(written)
			r.enter(step{name: Shorten(name)})
			defer r.leave()
			if _, again := (*t)[name]; again {
				r.note("is given twice")
			}
			if values := words(r); len(values) > 0 {
				(*t)[name] = values
			}
		})
	case '[':
		*t = Tags{}
		if labels := words(r); len(labels) > 0 {
			*t = Tags{domain.Labels: labels}
		}
	default:
		r.note("must be an object of strings, or an array of labels")
		r.value()
	}
}

// Schema documents both forms.
func (t *Tags) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		OneOf: []*huma.Schema{
			{Type: huma.TypeObject, AdditionalProperties: wordsSchema()},
			{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
		},
		Examples: []any{map[string]any{"category": "preference", "domain": "coding_style"}},
	}
}

// words takes a string or an array of strings.
func words(r *reader) []string {
	switch {
	case r.null():
		return nil
	case r.peek() == '"':
		return []string{r.unquote(r.quoted())}
	case r.peek() != '[':
		r.note("must be a string or an array of strings")
		r.value()
		return nil
	}
	var all []string
	r.elements(func(i int) {
		r.enter(step{index: i})
		defer r.leave()
		if r.peek() != '"' {
			r.note("must be a string")
			r.value()
			return
		}
		all = append(all, r.unquote(r.quoted()))
	})
	return all
}

func wordsSchema() *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
	}}
}

// OneOrMore decodes and documents [api.OneOrMore].
type OneOrMore api.OneOrMore

func (o *OneOrMore) decode(r *reader) { *o = words(r) }

// Schema documents both forms.
func (o *OneOrMore) Schema(huma.Registry) *huma.Schema { return wordsSchema() }

// Forms are the types that decode and document those of package api which know more than one form.
var Forms = map[reflect.Type]reflect.Type{
	reflect.TypeFor[api.Tags]():        reflect.TypeFor[Tags](),
	reflect.TypeFor[api.OneOrMore]():   reflect.TypeFor[OneOrMore](),
	reflect.TypeFor[api.AsOf]():        reflect.TypeFor[AsOf](),
	reflect.TypeFor[json.RawMessage](): reflect.TypeFor[Object](),
}

// Object decodes and documents a JSON object that is kept as it is, without spaces; for [Fill], any value.
type Object json.RawMessage

func (o *Object) decode(r *reader) {
	if r.peek() != '{' && !r.lenient {
		r.note("must be an object")
		r.value()
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, r.value()); err == nil {
		*o = compact.Bytes()
	}
}

// Schema documents an object of any fields.
func (o *Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// AsOf is a time in the past or a position of the log, as the caller sent it; empty for now. In JSON a position may
// be a number, too.
type AsOf string

// Schema documents the accepted forms.
func (AsOf) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeInteger}}, Examples: []any{"2026-03-01T12:00:00Z", 17},
		Description: "As things were then: a time, a date (its beginning, in UTC) or a position of the log. " +
			"Of that you read what you may see today; what was erased since is gone from the past, too.",
	}
}

// Decode takes a string, or a position as a number.
func (v *AsOf) decode(r *reader) {
	switch first := r.peek(); {
	case first == '"':
		if *v = AsOf(r.unquote(r.quoted())); *v == "" {
			r.note(Empty)
		}
	case '0' <= first && first <= '9':
		*v = AsOf(r.value())
	default:
		r.note("must be a time or a date as a string, or a position of the log")
		r.value()
	}
}

// Unspaced is a time of a URL. If its plus sign was not escaped, it arrived as a space.
func Unspaced(s string) string {
	if date, zone, found := strings.Cut(s, " "); found && strings.Contains(date, "T") && len(zone) == len("00:00") {
		return date + "+" + zone
	}
	return s
}

// Parse gives the time or the position, and notes a value of a field that is neither.
func (v AsOf) Parse(p *domain.Problems, field string) domain.AsOf {
	if v == "" {
		return domain.AsOf{}
	}
	at, err := domain.ParseAsOf(Unspaced(string(v)), time.Now().UTC())
	if err != nil {
		p.Add(field, "%s", err)
	}
	return at
}
