package record

import (
	"encoding/json"
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

func TestARecordWithoutAnIDGetsTheSameOneEveryTime(t *testing.T) {
	t.Parallel()
	id := func(raw, who string) string {
		var named struct {
			ID      string `json:"id"`
			Content string `json:"content"`
		}
		if err := json.Unmarshal(identified([]byte(raw), who), &named); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return named.ID
	}
	first := id(`{"content":"x"}`, "user:1")
	if first == "" || id(`{ "content" : "x" }`, "user:1") != first {
		t.Error("the same record got another id")
	}
	if id(`{"content":"y"}`, "user:1") == first || id(`{"content":"x"}`, "user:2") == first {
		t.Error("another record, or another's, got the same id")
	}
	if id(` {} `, "") == "" {
		t.Error("an empty record got no id")
	}
	for _, raw := range []string{
		`{"id":"mine","content":"x"}`, `{"content":"x","id":null}`, `[1]`, `null`, `nonsense`,
		`{"a":`,
	} {
		servertest.Same(t, string(identified([]byte(raw), "")), raw)
	}
}

func FuzzIdentifiedRecordsSayWhatTheySaid(f *testing.F) {
	f.Add([]byte(`{"content":"x"}`))
	f.Add([]byte(" {\n} "))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var before, after map[string]json.RawMessage
		if json.Unmarshal(raw, &before) != nil {
			return
		}
		if err := json.Unmarshal(identified(raw, "user:1"), &after); err != nil {
			t.Fatalf("%s became unreadable: %v", raw, err)
		}
		if _, named := before["id"]; !named && before != nil {
			delete(after, "id")
		}
		if len(before) != len(after) {
			t.Fatalf("%d fields became %d", len(before), len(after))
		}
		for name, value := range before {
			if string(after[name]) != string(value) {
				t.Fatalf("%s became %s", value, after[name])
			}
		}
	})
}
