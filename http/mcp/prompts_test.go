package mcp_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/servertest"
)

// asked is the answer to a message of a host that does not check what it sends.
func (w *world) asked(message string) object {
	w.t.Helper()
	if w.tenant == "stdio" {
		return piped(w.t, w, initialize, initialized, message)["p -32602"]
	}
	request := servertest.Request(w.t, http.MethodPost, w.url+"/mcp", message, "X-API-Key: "+w.key, "Accept: application/json, text/event-stream")
	status, _, body := servertest.Send(w.t, http.DefaultClient, request)
	var answer object
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK {
		w.t.Fatalf("%v, %d %s", err, status, body)
	}
	return answer
}

func TestAPromptNamesTheArgumentsThatItLacks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, arguments := range map[string]map[string]string{
			"before_task": nil, "after_failure": {"task": " ", "tool_issue": "chromedriver"},
		} {
			_, err := w.host.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
			if refused, ok := errors.AsType[*jsonrpc.Error](err); !ok || refused.Code != jsonrpc.CodeInvalidParams || !strings.Contains(refused.Message, "task must not be empty") {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, params := range []string{
			`{"name":"after_failure","arguments":{"task":5}}`, `{"name":"before_task","arguments":[7]}`, `{"name":5}`,
		} {
			got := w.asked(`{"jsonrpc":"2.0","id":"p","method":"prompts/get","params":` + params + `}`)
			if wrong, _ := got["error"].(object); got["id"] != "p" || wrong["code"] != -32602.0 {
				t.Errorf("%s: %v", params, got)
			}
		}
		for name, says := range map[string]string{
			"start_session": "task must not contain NUL characters", "before_task": "task must not contain NUL characters",
			"after_failure": "task must not contain NUL characters: tool_issue must not contain NUL characters",
		} { // what the API finds wrong is wrong with an argument, too
			arguments := map[string]string{"task": "\x00"}
			if name == "after_failure" {
				arguments["tool_issue"] = "\x00"
			}
			_, err := w.host.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
			if refused, ok := errors.AsType[*jsonrpc.Error](err); !ok || refused.Code != jsonrpc.CodeInvalidParams || !strings.HasSuffix(refused.Message, ": "+says) {
				t.Errorf("a task of NUL, %s: %.300v", name, err)
			}
		}
	})
}
