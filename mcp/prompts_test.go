package mcp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

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
		long := map[string]string{"task": strings.Repeat("x", 100_000)} // what the API finds wrong is wrong with an argument, too
		_, err := w.host.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "before_task", Arguments: long})
		if refused, ok := errors.AsType[*jsonrpc.Error](err); !ok || refused.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("a task of 100 KB: %.300v", err)
		}
	})
}
