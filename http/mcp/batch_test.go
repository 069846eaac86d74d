package mcp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

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
	status, _, got := servertest.Send(w.t, http.DefaultClient, request)
	return status, strings.TrimSpace(string(got))
}

func TestABatchIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if w.tenant != "http" {
			return
		}
		status, body := w.posted("[" + remember + "," + initialized + "]")
		if status != http.StatusBadRequest || !strings.Contains(body, `"code":-32600`) || !strings.Contains(body, "one by one") {
			t.Errorf("got %d %s", status, body)
		}
		same(t, w.call("retrieve_memory", object{"query": "429"}).ok()["count"], 0.0, "of a refused batch")
	})
}

func TestAHostThatReadsOnlyJSONIsAnswered(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, accept := range []string{"application/json", "application/json;q=0.9", "", "*/*"} {
			status, body := w.posted(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Accept: "+accept)
			if status != http.StatusOK || !strings.Contains(body, `"result"`) {
				t.Errorf("%s: got %d %s", accept, status, body)
			}
		}
		status, _ := w.posted(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Accept: text/html")
		same(t, status, http.StatusBadRequest)
	})
}

func TestAnIDIsATextOrAWholeNumber(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ping := func(id string) []string {
			message := `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`
			if w.tenant == "http" {
				_, answer := w.posted(message)
				return []string{answer}
			}
			answers := w.lines(initialize, initialized, message)
			return slices.DeleteFunc(answers, func(answer string) bool { return strings.Contains(answer, "serverInfo") })
		}
		for id, want := range map[string]string{
			"0": `"id":0`, "-7": `"id":-7`, "9007199254740992": `"id":9007199254740992`, `"1.5"`: `"id":"1.5"`,
			"1.5": `"code":-32600`, "1e3": `"code":-32600`, "9007199254740993": `"id":"9007199254740993"`,
			"-123456789012345678901": `"id":"-123456789012345678901"`, `"9007199254740993"`: `"id":"9007199254740993"`, "1e400": `"code":-32600`,
		} {
			answers := ping(id)
			if len(answers) == 0 {
				t.Errorf("%s: no answer", id)
			}
			for _, answer := range answers {
				like(t, answer, containing(want), id)
			}
		}
	})
}
