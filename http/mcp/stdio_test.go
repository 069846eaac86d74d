package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/mcp"
	"github.com/annals-kb/annals/http/servertest"
)

type discarded struct{ *bytes.Buffer }

func (discarded) Close() error { return nil }

// piped is what a host is answered that says everything at once and leaves, by id.
func piped(t *testing.T, w *world, said ...string) map[string]object {
	t.Helper()
	answers := map[string]object{}
	for _, line := range w.lines(said...) {
		var answer object
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		id := fmt.Sprint(answer["id"])
		if wrong, is := answer["error"].(object); is {
			id += fmt.Sprint(" ", wrong["code"])
		}
		if answers[id] != nil {
			id += " again"
		}
		answers[id] = answer
	}
	return answers
}

// lines are what such a host is answered, as it stands there.
func (w *world) lines(said ...string) []string {
	w.t.Helper()
	var out bytes.Buffer
	server := mcp.New(mcp.Config{API: w.api, Version: "test"})
	if err := server.Serve(w.t.Context(), io.NopCloser(strings.NewReader(strings.Join(said, "\n"))), discarded{&out}, false); err != nil {
		w.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	remember    = `{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{"name":"remember","arguments":{"content":"Retry 429s with jitter","category":"patterns"}}}`
	list        = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

func TestWhatWasAskedIsAnsweredAfterTheHostLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answers := piped(t, w, initialize, initialized, list, remember)
		if len(answers) != 3 || answers["1"] == nil || answers["2"] == nil || answers["r"] == nil {
			t.Fatalf("got %v", answers)
		}
		like(t, w.call("retrieve_memory", object{"query": "429"}).ok(), object{"count": 1.0}, "it was not remembered")
	})
}

func TestEveryErrorHasACode(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		early := strings.Replace(list, `"id":2`, `"id":9`, 1)
		twice := strings.Replace(initialize, `"id":1`, `"id":3`, 1)
		gone := `{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"viking://user/7/memories/../../x"}}`
		answers := piped(t, w, early, initialize, initialized, twice, gone)
		for _, id := range []string{"9 -32600", "1", "3 -32600", "4 -32602"} {
			if answers[id] == nil {
				t.Errorf("no %s among %v", id, answers)
			}
		}
		for id := range answers {
			if strings.HasSuffix(id, " 0") {
				t.Errorf("an error has no code: %v", answers[id])
			}
		}
	})
}

func TestALineThatIsNoMessageIsAnsweredAndTheNextOneToo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answers := piped(t, w, "{oops", initialize, initialized, "", `{"id":7}`, "["+list+"]", list, strings.Repeat(" ", 17<<20), list[:20])
		for _, id := range []string{"<nil> -32700", "<nil> -32600", "1", "2", "<nil> -32600 again", "<nil> -32700 again"} {
			if answers[id] == nil {
				t.Errorf("no %s among %v", id, answers)
			}
			delete(answers, id)
		}
		if len(answers) > 0 {
			t.Errorf("and %v", answers)
		}
	})
}

func TestWhatIsTooLongIsToldHowLongItMayBe(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		long := object{"content": strings.Repeat("x", 2<<20), "category": "tools"}
		if w.tenant == "stdio" {
			got := w.call("remember", long)
			same(t, got.refused(), "INVALID_ARGUMENT")
			like(t, got.text, ending(" (content has at most 65536 bytes: make several items of it)"))
			return
		}
		request := servertest.Request(t, http.MethodPost, w.url+"/mcp", long, "X-API-Key: "+w.key, "Accept: application/json, text/event-stream")
		status, _, body := servertest.Send(t, http.DefaultClient, request)
		const want = `{"error":{"code":-32600,"message":"a message has at most 1048576 bytes"},"id":null,"jsonrpc":"2.0"}`
		same(t, status, http.StatusRequestEntityTooLarge, body)
		same(t, strings.TrimSpace(string(body)), want, body)
	})
}

func TestABodyThatIsNoMessageIsAnsweredWithAnError(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for body, want := range map[string]object{
			"{oops": {"code": -32700.0}, "": {"code": -32700.0}, `{"id":7}`: {"code": -32600.0}, "[]": {"code": -32600.0},
			`{"jsonrpc":"2.0","id":7,"method":"nothing"}`:     {"code": -32601.0, "id": 7.0},
			`{"jsonrpc":"2.0","id":"a","method":"nothing"}`:   {"code": -32601.0, "id": "a"},
			`{"jsonrpc":"2.0","method":"tools/list"}`:         {"code": -32600.0},
			`{"jsonrpc":"2.0","id":8,"method":"initialized"}`: {"code": -32601.0, "id": 8.0},
		} {
			status, answer := w.posted(body)
			var got object
			if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusBadRequest {
				t.Fatalf("%q: %v, %d %s", body, err, status, answer)
			}
			wrong, _ := got["error"].(object)
			delete(wrong, "message")
			same(t, got, object{"jsonrpc": "2.0", "id": want["id"], "error": object{"code": want["code"]}}, body)
		}
	})
}
