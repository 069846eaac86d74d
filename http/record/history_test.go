package record_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestAHistoryShowsTextsWordByWordIfAsked(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "用户偏好 TypeScript, always")
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "用户喜好 Go, always", "tags": Object{"x": "y"}}).Want(http.StatusOK)
		Like(t, string(w.Ask("GET", "/v1/knowledge/a/history", nil).Want(http.StatusOK).Body),
			Lacking(`"diff"`), "nobody asked for")
		revised := w.Ask("GET", "/v1/knowledge/a/history?diff=true", nil).Want(http.StatusOK).Items()[1]
		got := map[string]string{}
		for _, changed := range revised["changes"].([]any) {
			var marked strings.Builder
			edits, _ := Pick(changed.(Object), "diff").([]any)
			for _, e := range edits {
				fmt.Fprintf(&marked, "%s:%s|", Pick(e.(Object), "op"), Pick(e.(Object), "text"))
			}
			got[Pick(changed.(Object), "field").(string)] = marked.String()
		}
		want := map[string]string{
			"content": "same:用户|removed:偏|added:喜|same:好 |removed:TypeScript|added:Go|same:, always|", "tags": "",
		}
		Same(t, got, want)
		w.Ask("GET", "/v1/knowledge/a/history?diff=perhaps", nil).Want(http.StatusUnprocessableEntity)
	})
}

func TestAHistoryLeadsBackToWhereItBegan(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", []Object{
			{"id": "source", "type": "tool", "content": "x", "scopes": []string{"user:bob"}, "owner": "user:bob", "causation_id": "file:见闻 1.ndjson:7"},
			{"id": "bad", "type": "tool", "content": "x", "causation_id": "two\nlines"},
		}, "Annals-Causation-Id: request", "Annals-Correlation-Id: import:1", "X-Request-Id: r1").Want(http.StatusOK)
		first := w.Ask("GET", "/v1/knowledge/source/history", nil).Want(http.StatusOK).Items()[0]
		Like(t, first, Object{"request_id": "r1#1", "correlation_id": "import:1"})
		vote := w.Ask("POST", "/v1/knowledge/source/feedback", Object{"verdict": "helpful"},
			Header("Annals-Causation-Id: "+first["event_id"].(string))).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge", Object{"id": "made", "type": "plan", "content": "x", "scopes": []string{"public"}},
			Header("Annals-Causation-Id: "+vote.Header.Get("Annals-Events"))).Want(http.StatusCreated)

		made := func(headers ...Header) Object {
			return w.Ask("GET", "/v1/knowledge/made/history", nil, headers...).Want(http.StatusOK).Items()[0]
		}
		chain := func(headers ...Header) []string {
			var steps []string
			for _, step := range made(headers...)["caused_by"].([]any) {
				name, _ := Pick(step.(Object), "name").(string)
				stream, _ := Pick(step.(Object), "stream").(string)
				if name == "" {
					name = Pick(step.(Object), "id").(string)
				}
				steps = append(steps, strings.TrimSpace(name+" "+stream))
			}
			return steps
		}
		want := []string{"knowledge.found_helpful knowledge:source", "knowledge.remembered knowledge:source", "file:见闻 1.ndjson:7"}
		Same(t, chain(), want)
		Same(t, chain("Annals-On-Behalf-Of: user:bob"), want, "bob's own")
		Like(t, made("Annals-On-Behalf-Of: user:eve"), Object{"causation_id": nil, "caused_by": nil})
		w.Ask("GET", "/v1/knowledge/bad", nil).Want(http.StatusNotFound)
	})
}

func TestAHistorySaysWhoWhenWhyAndWhatChanged(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Item("a", "one"), "Annals-Actor: user:alice").Want(http.StatusCreated)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "two", "tags": Object{"k": "v"}}, "Annals-Actor: user:bob",
			"Annals-On-Behalf-Of: user:alice", "X-Request-Id: req-7", "Annals-Correlation-Id: corr", "Annals-Causation-Id: cause",
			"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/a/stale", Object{"reason": "old"}).Want(http.StatusOK)
		all := w.Ask("GET", "/v1/knowledge/a/history", nil).Want(http.StatusOK).Items()
		if len(all) != 3 {
			t.Fatalf("%d events", len(all))
		}
		revised := all[1]
		for field, want := range (Object{
			"name": "knowledge.revised", "stream": "knowledge:a", "version": 2.0, "position": 2.0, "actor": "user:bob",
			"on_behalf_of": "user:alice", "authentication": "open", "request_id": "req-7", "correlation_id": "corr",
			"causation_id": "cause", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			"revision": 2.0, "changes": []any{
				Object{"field": "content", "before": "one", "after": "two"},
				Object{"field": "tags", "after": Object{"k": "v"}},
			},
		}) {
			Same(t, revised[field], want, field)
		}
		Like(t, all[2], Object{"reason": "old", "confidence": 0.25})
		page := w.Ask("GET", "/v1/knowledge/a/history?limit=2", nil).Want(http.StatusOK)
		next := page.JSON()["next_cursor"].(string)
		rest := w.Ask("GET", "/v1/knowledge/a/history?limit=2&cursor="+next, nil).Want(http.StatusOK)
		Like(t, rest.Items(), []any{Object{"position": 3.0}})
		Like(t, rest.JSON(), Object{"next_cursor": nil})
		w.Ask("GET", "/v1/knowledge/b/history?cursor="+next, nil).Want(http.StatusNotFound)
	})
}
