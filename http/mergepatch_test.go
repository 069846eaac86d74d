package http

import (
	"encoding/json"
	"testing"
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
		got, err := mergePatch(json.RawMessage(c.target), json.RawMessage(c.patch))
		if err != nil || string(got) != c.want {
			t.Errorf("%s with %s: %s, %v; want %s", c.target, c.patch, got, err, c.want)
		}
	}
}
