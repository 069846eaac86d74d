package body

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// complaints are what an error says about each field, or what it says.
func complaints(err error) []string {
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*domain.Invalid](err)
	if !ok {
		return []string{err.Error()}
	}
	var all []string
	for _, bad := range invalid.Problems {
		all = append(all, bad.Field+": "+bad.Message)
	}
	return all
}

func TestABodyIsReadStrictly(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                                  "the body is empty",
		" \n":                               "the body is empty",
		"{\"content\": \"a\xff\"}":          "the body is not valid UTF-8",
		`{"content": "a"`:                   "the JSON ends too early: something is still open",
		`{"content": "a",`:                  "the JSON ends too early: something is still open",
		`{"content": "a",}`:                 "the body is not valid JSON: it breaks at line 1, column 17",
		`[1,]`:                              "the body is not valid JSON: it breaks at line 1, column 4",
		"{\"content\":\n  secret}":          "the body is not valid JSON: it breaks at line 2, column 3",
		`{"内容": 一二}`:                        "the body is not valid JSON: it breaks at line 1, column 8",
		"{\"content\": \"a\x00b\"}":         "the body is not valid JSON: it breaks at line 1, column 15",
		`{"content": "a"} {"content": "b"}`: "the body is not valid JSON: it breaks at line 1, column 18",
		strings.Repeat(`{"meta":`, 20_000):  "the JSON is nested too deep: more than 10000 levels",
		`"content"`:                         "body: must be a JSON object",
		`null`:                              "body: must be a JSON object",
		`{"content": "whole \ud83d\ude00"}`: "",
		`{"content": "a", "content": "b"}`:  "content: is given twice",
		`{"Content": "a"}`:                  "Content: is not a field here",
		`{"": "a"}`:                         `"": is not a field here`,
		`{"content": null, "tags": null, "eval": null, "scopes": null}`: "",
		`{"revision": "ignored", "stale": 7, "created_at": []}`:         "",
		`{"eval": {"helpful": 5.0, "harmful": 1e2}}`:                    "",
		`{"eval": {"helpful": 5.5, "harmful": 1e300}}`:                  "eval.helpful: must be a whole number; eval.harmful: must be a whole number",
		`{"eval": {"confidence": 1e999}}`:                               "eval.confidence: must be a number",
		`{"occurred_at": "0000-01-01T00:00:00+23:00"}`:                  "occurred_at: must be a time such as 2026-03-01T12:00:00Z",
		`{"tags": ["a", ["b"]]}`:                                        "tags[1]: must be a string",
		`{"tags": "a"}`:                                                 "tags: must be an object of strings, or an array of labels",
	} {
		var found domain.Problems
		_, err := Decode[api.Knowledge]([]byte(body), &found)
		if err == nil {
			err = found.Err()
		}
		if got := strings.Join(complaints(err), "; "); got != want {
			t.Errorf("%.60q: got %q, want %q", body, got, want)
		}
	}
}

func TestTagsMayBeAnObjectOrLabels(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]api.Tags{
		`{"tags": {"category": "preference", "domain": ["a", "b"], "none": []}}`: {"category": {"preference"}, "domain": {"a", "b"}},
		`{"tags": ["a", "b"]}`: {"labels": {"a", "b"}},
		`{"tags": []}`:         {},
	} {
		in, err := Decode[api.Knowledge]([]byte(body), new(domain.Problems))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in.Tags, want); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

// FuzzDecode holds the decoder against encoding/json: it takes nothing that is no JSON object,
// it never panics, and what it takes without complaint means the same to both.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"content":"a\u00e9\n","tags":{"a":["b"]},"scopes":["user:1"],"eval":{"helpful":1.0,"helpful_history":[{}]}}`))
	f.Add([]byte(`{"source":{"urls":[],"timestamp":"2026-03-03"},"occurred_at":"2026-03-01T12:00:00Z","meta":{"a":[{}," ]"]}}`))
	f.Add([]byte(`[{"content": "\ud800"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var found domain.Problems
		in, err := Decode[api.Knowledge](body, &found)
		if err != nil || len(found) > 0 {
			return
		}
		var plain struct {
			Task, Content string
			Scopes        []string
			Meta          map[string]any
		}
		if err := json.Unmarshal(body, &plain); err != nil {
			t.Fatalf("encoding/json refuses what was taken: %v", err)
		}
		if in.Content != plain.Content || in.Task != plain.Task {
			t.Errorf("read %q and %q, encoding/json reads %q and %q", in.Task, in.Content, plain.Task, plain.Content)
		}
		if len(in.Scopes) != len(plain.Scopes) {
			t.Errorf("read %d scopes, encoding/json reads %d", len(in.Scopes), len(plain.Scopes))
		}
	})
}
