package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/servertest"
)

func TestOneKeyIsOnePersonOnEverySurface(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db)
		w.post("/v1/tenants", "", object{"name": "acme"})
		mia := w.given(object{"subject": "user:mia"})
		named := []string{"X-OpenViking-User: bob", "X-OpenViking-Account: acme"}
		for _, c := range []struct {
			who, tenant string
			headers     []string
		}{
			{"user:default", "default", []string{"Authorization: Bearer " + rootKey}},
			{"user:bob", "acme", append([]string{"Authorization: Bearer " + rootKey}, named...)},
			{"user:mia", "default", append([]string{"Authorization: Bearer " + mia}, named...)},
		} {
			ask := func(method, path string, body any) (answer object) {
				t.Helper()
				headers := append([]string{"Accept: application/json, text/event-stream"}, c.headers...)
				status, _, got := servertest.Send(t, http.DefaultClient, servertest.Request(t, method, w.url+path, body, headers...))
				if err := json.Unmarshal(got, &answer); err != nil || status != http.StatusOK {
					t.Fatalf("%s as %s: %d %s", path, c.who, status, got)
				}
				return answer
			}
			said := "Known to " + strings.TrimPrefix(c.who, "user:")
			ask("POST", "/mcp", object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{
				"name": "remember", "arguments": object{"content": said, "category": "preferences"},
			}})
			me := ask("GET", "/v1/whoami", nil)
			who := me["subject"]
			if acts := me["on_behalf_of"]; acts != nil {
				who = acts
			}
			same[any](t, who, c.who, "/v1 knows", c.headers[1:])
			like(t, me, object{"tenant": c.tenant}, "/v1 knows", c.headers[1:])
			kept, _ := ask("GET", "/v1/knowledge?owner="+c.who, nil)["items"].([]any)
			like(t, kept, []any{object{"content": said}}, "what /mcp was told by", c.who)
		}
	})
}
