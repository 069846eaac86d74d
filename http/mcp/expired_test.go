package mcp_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

// Some hosts show their model only the data.
func TestTheDataOfToolsTellsThatAConfirmationHasExpired(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		uri := w.call("remember", object{"content": "Retry 429s with jitter", "category": "patterns"}).ok()["uri"].(string)
		said := func(tools string) (result, object) {
			t.Helper()
			host, name, kind := w.host, "retrieve_memory", "results"
			if tools != "" {
				host, name, kind = w.byLinesWith(tools, false), "find", "memories"
			}
			answer := w.callOn(host, name, object{"query": "429s with jitter"})
			return answer, answer.ok()[kind].([]any)[0].(object)
		}
		for _, tools := range []string{"", "openviking"} {
			if answer, found := said(tools); found["confirmation_expired"] != nil || strings.Contains(answer.text, "expired") {
				t.Errorf("before: %v\n%s", found, answer.text)
			}
		}
		id := w.call("get_knowledge", object{"uri": uri}).ok()["id"].(string)
		const expired = "UPDATE knowledge_1 SET confirmed_at = created_at, confirm_until = created_at WHERE id = ?"
		servertest.Execute(t, w.db, expired, id)
		for _, tools := range []string{"", "openviking"} {
			if answer, found := said(tools); found["confirmation_expired"] != true || tools == "" && !strings.Contains(answer.text, "confirmation expired") {
				t.Errorf("after: %v\n%s", found, answer.text)
			}
		}
		like(t, w.call("get_knowledge", object{"uri": uri}).ok(), object{"confirmation_expired": true})
	})
}
