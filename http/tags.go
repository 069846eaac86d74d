package http

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

// tags decode and document [api.Tags]. Read, they may also be an array of strings: those become the values of "labels".
type tags api.Tags

func (t *tags) decode(r *reader) {
	switch r.peek() {
	case '{':
		*t = tags{}
		r.members(func(written []byte) {
			name := string(written)
			r.enter(step{name: brief(name)})
			defer r.leave()
			if _, again := (*t)[name]; again {
				r.note("is given twice")
			}
			if values := words(r); len(values) > 0 {
				(*t)[name] = values
			}
		})
	case '[':
		*t = tags{}
		if labels := words(r); len(labels) > 0 {
			*t = tags{domain.Labels: labels}
		}
	default:
		r.note("must be an object of strings, or an array of labels")
		r.value()
	}
}

// Schema documents both forms.
func (t *tags) Schema(huma.Registry) *huma.Schema {
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

// oneOrMore decodes and documents [api.OneOrMore].
type oneOrMore api.OneOrMore

func (o *oneOrMore) decode(r *reader) { *o = words(r) }

// Schema documents both forms.
func (o *oneOrMore) Schema(huma.Registry) *huma.Schema { return wordsSchema() }

// tagsOf reads tags of the form key:value from a query; without a colon it is a label.
func tagsOf(given []string) domain.Tags {
	if len(given) == 0 {
		return nil
	}
	tags := domain.Tags{}
	for _, tag := range given {
		key, value, found := strings.Cut(tag, ":")
		if !found {
			key, value = domain.Labels, tag
		}
		tags[key] = append(tags[key], value)
	}
	return tags
}
