package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/servertest"
)

func TestWhatAToolReadsHasAReceiptThatNamesTheHost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.call("save_knowledge", object{"id": "window", "type": "tool", "content": "The window of deployments is Tuesday at noon."})
		uri := w.call("get_knowledge", object{"uri": "window"}).ok()["uri"]
		for _, c := range []struct {
			tool, kind string
			in         object
		}{
			{"retrieve_memory", "use", object{"query": "deployments window"}},
			{"get_knowledge", "use", object{"uri": uri}},
			{"review_queue", "look", object{}},
		} {
			answer, err := w.host.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.in})
			if err != nil {
				t.Fatal(err)
			}
			last := w.recorder.Last()
			receipt, _ := answer.StructuredContent.(object)["receipt"].(string)
			text := answer.Content[len(answer.Content)-1].(*sdk.TextContent).Text
			if !strings.HasPrefix(receipt, "r1-") || text != "receipt: "+receipt {
				t.Errorf("%s: receipt %q, text %q", c.tool, receipt, text)
			}
			servertest.Same(t, []string{string(last.Kind), last.Host, string(last.Caller)}, []string{c.kind, "host/1", "user:mia"}, c.tool)
		}
		read, err := w.host.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri.(string)})
		if err != nil || len(read.Contents) != 1 {
			t.Fatal(read, err)
		}
		servertest.Same(t, string(w.recorder.Last().Kind), "use", "of a resource")
	})
}
