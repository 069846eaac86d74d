package body

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
)

// TagPatch changes tags. It sets or removes keys or single values, or replaces all tags by labels.
type TagPatch struct {
	replace bool
	set     Tags
	drop    []string
	add     []tagged
	remove  []tagged
}

// tagged is one value of a key.
type tagged struct{ key, value string }

func (t *TagPatch) decode(r *reader) {
	if r.peek() != '{' {
		t.replace = true
		t.set.decode(r)
		return
	}
	t.set = Tags{}
	r.members(func(written []byte) {
		name := string(written)
		r.enter(step{name: Shorten(name)})
		defer r.leave()
		if r.peek() == '{' {
			t.decodeValues(r, name)
		} else if values := words(r); len(values) > 0 {
			t.set[name] = values
		} else {
			t.drop = append(t.drop, name)
		}
	})
}

// decodeValues reads which values of a key are added, and which are removed.
func (t *TagPatch) decodeValues(r *reader, key string) {
	r.members(func(written []byte) {
		value := string(written)
		r.enter(step{name: Shorten(value)})
		defer r.leave()
		switch literal := string(r.value()); literal {
		case "true":
			t.add = append(t.add, tagged{key, value})
		case "null":
			t.remove = append(t.remove, tagged{key, value})
		default:
			r.note("must be true, or null to take it away")
		}
	})
}

// Schema documents both forms. In the first, null removes a key or one of its values.
func (t *TagPatch) Schema(huma.Registry) *huma.Schema {
	value := wordsSchema()
	one := &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeBoolean, Enum: []any{true}}, {Type: "null"}}}
	value.OneOf = append(
		value.OneOf, &huma.Schema{Type: "null"}, &huma.Schema{Type: huma.TypeObject, AdditionalProperties: one},
	)
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeObject, AdditionalProperties: value},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
	}}
}

// Apply gives the tags that result.
func (t TagPatch) Apply(current domain.Tags) domain.Tags {
	merged := domain.Tags{}
	if !t.replace {
		maps.Copy(merged, current)
	}
	maps.Copy(merged, t.set)
	for _, key := range t.drop {
		delete(merged, key)
	}
	for _, gone := range t.remove {
		left := slices.DeleteFunc(slices.Clone(merged[gone.key]), func(value string) bool { return value == gone.value })
		if merged[gone.key] = left; len(left) == 0 {
			delete(merged, gone.key)
		}
	}
	for _, added := range t.add {
		if !slices.Contains(merged[added.key], added.value) {
			merged[added.key] = append(slices.Clip(merged[added.key]), added.value)
		}
	}
	return merged
}

// MergePatch applies a merge patch to a JSON object (RFC 7396). Numbers keep their digits.
func MergePatch(target, patch json.RawMessage) (json.RawMessage, error) {
	if len(target) == 0 {
		target = json.RawMessage("{}")
	}
	current, err := decodeAny(target)
	if err != nil {
		return nil, err
	}
	change, err := decodeAny(patch)
	if err != nil {
		return nil, err
	}
	merged := mergeValue(current, change)
	if object, ok := merged.(map[string]any); ok && len(object) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(merged)
	return bytes.TrimSpace(out.Bytes()), err
}

func decodeAny(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func mergeValue(target, change any) any {
	changes, ok := change.(map[string]any)
	if !ok {
		return change
	}
	merged := map[string]any{}
	if object, ok := target.(map[string]any); ok {
		maps.Copy(merged, object)
	}
	for key, value := range changes {
		if value == nil {
			delete(merged, key)
		} else {
			merged[key] = mergeValue(merged[key], value)
		}
	}
	return merged
}

// Optional is a field of a merge patch: absent, null, or a value.
type Optional[T any] struct {
	Given bool // present, perhaps as null
	Null  bool
	Value T
}

// nullable types distinguish null from an absent field.
type nullable interface {
	// present notes that the field is present and returns where to decode its value. Null leaves the value empty.
	present(null bool) reflect.Value
	inner() reflect.Type
}

func (o *Optional[T]) present(null bool) reflect.Value {
	o.Given, o.Null = true, null
	return reflect.ValueOf(&o.Value).Elem()
}

func (o *Optional[T]) inner() reflect.Type { return reflect.TypeFor[T]() }

// Schema documents the value. The operation documents that null clears it.
func (o *Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	switch {
	case s.Type != "":
		s.Nullable = true
	case len(s.OneOf) > 0:
		s.OneOf = append(s.OneOf, &huma.Schema{Type: "null"})
	}
	return &s
}

func decodeNullable(t reflect.Type) decoder {
	inner := decoderOf(reflect.New(t).Interface().(nullable).inner())
	return func(r *reader, v reflect.Value) {
		null := r.null()
		place := v.Addr().Interface().(nullable).present(null)
		if !null {
			inner(r, place)
		}
	}
}
