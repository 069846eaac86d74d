package http_test

import (
	"net/http"
	"testing"
)

// What was said in a session is no knowledge to begin another one with, nor to answer a query with.
func TestAContextLeavesArchivesOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const archive = "archive_0123456789abcdef01234567"
		for id, content := range map[string]string{archive: "user: make the sales dashboard", "nan": "The sales dashboard broke: clean NaN rows first"} {
			w.ask("POST", "/v1/knowledge", object{"id": id, "type": "usecase", "content": content, "owner": "user:alice"}).want(http.StatusCreated)
		}
		for _, body := range []object{{"stage": "start"}, {"stage": "query", "query": "make the sales dashboard"}} {
			body["context"] = alice
			var ids []any
			for _, item := range w.ask("POST", "/v1/context", body).want(http.StatusOK).items() {
				ids = append(ids, pick(item, "knowledge", "id"))
			}
			same(t, ids, []any{"nan"}, body["stage"])
		}
	})
}
