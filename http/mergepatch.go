package http

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
)

// tagPatch changes tags: keys are set, or taken away, or some of their values are; or all are replaced by labels.
type tagPatch struct {
	replace bool
	set     tags
	drop    []string
	add     []tagged
	remove  []tagged
}

// tagged is one value of a key.
type tagged struct{ key, value string }

func (t *tagPatch) decode(r *reader) {
	if r.peek() != '{' {
		t.replace = true
		t.set.decode(r)
		return
	}
	t.set = tags{}
	r.members(func(written []byte) {
		name := string(written)
		r.enter(step{name: brief(name)})
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

// decodeValues reads which values of a key are there from now on, and which are not.
func (t *tagPatch) decodeValues(r *reader, key string) {
	r.members(func(written []byte) {
		value := string(written)
		r.enter(step{name: brief(value)})
		defer r.leave()
		switch given := string(r.value()); given {
		case "true":
			t.add = append(t.add, tagged{key, value})
		case "null":
			t.remove = append(t.remove, tagged{key, value})
		default:
			r.note("must be true, or null to take it away")
		}
	})
}

// Schema documents both forms; in the first, null takes a key away, or one of its values.
func (t *tagPatch) Schema(huma.Registry) *huma.Schema {
	value := wordsSchema()
	one := &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeBoolean, Enum: []any{true}}, {Type: "null"}}}
	value.OneOf = append(value.OneOf, &huma.Schema{Type: "null"}, &huma.Schema{Type: huma.TypeObject, AdditionalProperties: one})
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeObject, AdditionalProperties: value},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
	}}
}

// onto gives the tags that result.
func (t tagPatch) onto(current domain.Tags) domain.Tags {
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

// mergePatch applies a merge patch to a JSON object, as RFC 7396 has it. Numbers keep their
// digits.
func mergePatch(target, patch json.RawMessage) (json.RawMessage, error) {
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
