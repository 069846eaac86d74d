package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestAHistoryShowsTextsWordByWordIfAsked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "用户偏好 TypeScript, always")
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "用户喜好 Go, always", "tags": object{"x": "y"}}).want(http.StatusOK)
		like(t, string(w.ask("GET", "/v1/knowledge/a/history", nil).want(http.StatusOK).body),
			lacking(`"diff"`), "nobody asked for")
		revised := w.ask("GET", "/v1/knowledge/a/history?diff=true", nil).want(http.StatusOK).items()[1]
		got := map[string]string{}
		for _, changed := range revised["changes"].([]any) {
			var marked strings.Builder
			edits, _ := pick(changed.(object), "diff").([]any)
			for _, e := range edits {
				fmt.Fprintf(&marked, "%s:%s|", pick(e.(object), "op"), pick(e.(object), "text"))
			}
			got[pick(changed.(object), "field").(string)] = marked.String()
		}
		want := map[string]string{
			"content": "same:用户|removed:偏|added:喜|same:好 |removed:TypeScript|added:Go|same:, always|", "tags": "",
		}
		same(t, got, want)
		w.ask("GET", "/v1/knowledge/a/history?diff=perhaps", nil).want(http.StatusUnprocessableEntity)
	})
}

func TestAHistoryLeadsBackToWhereItBegan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ask("POST", "/v1/knowledge", []object{
			{"id": "source", "type": "tool", "content": "x", "scopes": []string{"user:bob"}, "owner": "user:bob", "causation_id": "file:见闻 1.ndjson:7"},
			{"id": "bad", "type": "tool", "content": "x", "causation_id": "two\nlines"},
		}, "Annals-Causation-Id: request", "Annals-Correlation-Id: import:1", "X-Request-Id: r1").want(http.StatusOK)
		first := w.ask("GET", "/v1/knowledge/source/history", nil).want(http.StatusOK).items()[0]
		like(t, first, object{"request_id": "r1#1", "correlation_id": "import:1"})
		vote := w.ask("POST", "/v1/knowledge/source/feedback", object{"verdict": "helpful"},
			header("Annals-Causation-Id: "+first["event_id"].(string))).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge", object{"id": "made", "type": "plan", "content": "x", "scopes": []string{"public"}},
			header("Annals-Causation-Id: "+vote.header.Get("Annals-Events"))).want(http.StatusCreated)

		made := func(headers ...header) object {
			return w.ask("GET", "/v1/knowledge/made/history", nil, headers...).want(http.StatusOK).items()[0]
		}
		chain := func(headers ...header) []string {
			var steps []string
			for _, step := range made(headers...)["caused_by"].([]any) {
				name, _ := pick(step.(object), "name").(string)
				stream, _ := pick(step.(object), "stream").(string)
				if name == "" {
					name = pick(step.(object), "id").(string)
				}
				steps = append(steps, strings.TrimSpace(name+" "+stream))
			}
			return steps
		}
		want := []string{"knowledge.found_helpful knowledge:source", "knowledge.remembered knowledge:source", "file:见闻 1.ndjson:7"}
		same(t, chain(), want)
		same(t, chain("Annals-On-Behalf-Of: user:bob"), want, "bob's own")
		like(t, made("Annals-On-Behalf-Of: user:eve"), object{"causation_id": nil, "caused_by": nil})
		w.ask("GET", "/v1/knowledge/bad", nil).want(http.StatusNotFound)
	})
}
