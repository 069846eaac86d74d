package api

import (
	"strings"
	"testing"
)

func TestAReaderIsNamedOnceWithEachReason(t *testing.T) {
	page := Known{Readers: []KnownScope{{Scope: "team:pay", Total: 3, Readers: []ScopeReader{
		{Subject: "user:ben", Reason: "directory"}, {Subject: "user:ben", Reason: "key"}, {Subject: "user:mia", Reason: "role"},
	}}}}.HTML("zh")
	for text, times := range map[string]int{"<bdi>ben</bdi>": 1, "<bdi>mia</bdi>": 1, "；": 1} {
		if n := strings.Count(page, text); n != times {
			t.Errorf("%q is there %d times, not %d:\n%s", text, n, times, page)
		}
	}
}
