package body

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
)

func TestMetaIsMergedAsRFC7396HasIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, patch, want string }{
		{``, `{"a":"b"}`, `{"a":"b"}`},
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, ``},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"n":1}`, `{"m":12345678901234567890}`, `{"m":12345678901234567890,"n":1}`},
		{`{"n":"<&>"}`, `{}`, `{"n":"<&>"}`},
	} {
		got, err := MergePatch(json.RawMessage(c.target), json.RawMessage(c.patch))
		if err != nil || string(got) != c.want {
			t.Errorf("%s with %s: %s, %v; want %s", c.target, c.patch, got, err, c.want)
		}
	}
}

func TestATagPatchChangesSingleValues(t *testing.T) {
	t.Parallel()
	type patched struct {
		Tags Optional[TagPatch] `json:"tags,omitzero"`
	}
	there := domain.Tags{"labels": {"old", "kept"}, "lang": {"go"}}
	for patch, want := range map[string]domain.Tags{
		`{"tags": {"labels": {"new": true, "old": null}}}`:                   {"labels": {"kept", "new"}, "lang": {"go"}},
		`{"tags": {"labels": {"kept": true, "nobody": null}, "lang": null}}`: {"labels": {"old", "kept"}},
		`{"tags": {"labels": {"old": null, "kept": null}}}`:                  {"lang": {"go"}},
		`{"tags": {"os": {"linux": true}, "labels": ["all"], "lang": "c"}}`:  {"labels": {"all"}, "lang": {"c"}, "os": {"linux"}},
		`{"tags": {"lang": {"c": true}, "labels": {}}}`:                      {"labels": {"old", "kept"}, "lang": {"go", "c"}},
	} {
		var found domain.Problems
		given, err := Decode[patched]([]byte(patch), &found)
		if err = errors.Join(err, found.Err()); err != nil {
			t.Errorf("%s: %v", patch, err)
		}
		if diff := cmp.Diff(given.Tags.Value.Apply(there), want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", patch, diff)
		}
	}
	var found domain.Problems
	_, _ = Decode[patched]([]byte(`{"tags": {"labels": {"x": false, "y": {}}}}`), &found)
	want := domain.Problems{
		{Field: "tags.labels.x", Message: "must be true, or null to take it away"}, {Field: "tags.labels.y", Message: "must be true, or null to take it away"},
	}
	if diff := cmp.Diff(found, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
