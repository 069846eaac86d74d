package mcp_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/http/servertest"
)

// posted is the answer to a body at /mcp.
func (w *world) posted(body string, headers ...string) (int, string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/mcp", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header = http.Header{"X-Api-Key": {w.key}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	status, _, got := servertest.Answer(w.t, http.DefaultClient, request)
	return status, strings.TrimSpace(string(got))
}

func rememberCall(id, content string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"remember","arguments":{"content":"` + content + `","category":"patterns"}}}`
}

func TestABatchOverHTTPIsExecutedWholeOrRefusedWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if w.tenant != "http" {
			return
		}
		count := func(query string) any { return w.call("retrieve_memory", object{"query": query}).ok()["count"] }
		status, body := w.posted("[" + strings.Join([]string{
			rememberCall("1", "batched alpha"), initialized, rememberCall(`"b"`, "batched beta"), `{"jsonrpc":"2.0","id":3,"method":"nothing"}`,
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":7}}`,
		}, ",") + "]")
		var answers []object
		if err := json.Unmarshal([]byte(body), &answers); err != nil || status != http.StatusOK || len(answers) != 4 {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		codes := map[any]any{}
		for _, answer := range answers {
			codes[answer["id"]] = nil
			if wrong, is := answer["error"].(object); is {
				codes[answer["id"]] = wrong["code"]
			}
		}
		if diff := cmp.Diff(codes, map[any]any{1.0: nil, "b": nil, 3.0: -32601.0, 4.0: -32602.0}); diff != "" {
			t.Error(diff)
		}
		if got := count("batched"); got != 2.0 {
			t.Errorf("found %v", got)
		}
		if status, body := w.posted("[" + initialized + "]"); status != http.StatusAccepted || body != "" {
			t.Errorf("notifications alone: %d %s", status, body)
		}
		for name, batch := range map[string]string{
			"no message":   `{"jsonrpc":"2.0"}`,
			"initialize":   initialize,
			"the same ids": rememberCall("1", "zygomorphic again"),
		} {
			if status, body := w.posted("[" + rememberCall("1", "zygomorphic") + "," + batch + "]"); status != http.StatusBadRequest || !strings.Contains(body, `"code":-32600`) {
				t.Errorf("%s: %d %s", name, status, body)
			}
		}
		status, body = w.posted("["+rememberCall("1", "zygomorphic")+"]", "Mcp-Protocol-Version: 2025-06-18")
		if status != http.StatusBadRequest || !strings.Contains(body, "has no batches") {
			t.Errorf("a version without batches: %d %s", status, body)
		}
		if got := count("zygomorphic"); got != 0.0 {
			t.Errorf("of refused batches %v items were remembered", got)
		}
	})
}

func TestAnIDIsATextOrAWholeNumber(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ping := func(id string) []string {
			message := `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`
			if w.tenant == "http" {
				_, one := w.posted(message)
				_, batch := w.posted("[" + message + "]")
				return []string{one, strings.Trim(batch, "[]")}
			}
			answers := w.lines(initialize, initialized, message)
			return slices.DeleteFunc(answers, func(answer string) bool { return strings.Contains(answer, "serverInfo") })
		}
		for id, want := range map[string]string{
			"0": `"id":0`, "-7": `"id":-7`, "9007199254740992": `"id":9007199254740992`, `"1.5"`: `"id":"1.5"`,
			"1.5": `"code":-32600`, "1e3": `"code":-32600`, "9007199254740993": `"code":-32600`, "1e400": `"code":-32600`,
		} {
			answers := ping(id)
			if len(answers) == 0 {
				t.Errorf("%s: no answer", id)
			}
			for _, answer := range answers {
				if !strings.Contains(answer, want) {
					t.Errorf("%s: got %s", id, answer)
				}
			}
		}
	})
}
