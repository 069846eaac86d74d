package viking_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAnErrorNamesOnlyWhatTheCallerSent(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const shared = "viking://agent/memories/tools/x.md"
		const bob = header("X-OpenViking-User: bob")
		id := w.remember(object{"content": "x", "category": "tools", "uri": shared, "scopes": []string{"public"}})
		for _, uri := range []string{"viking://user/a!b/x.md", "viking://agent/a!b/x.md", "viking://session/a!b/x.md"} {
			refused := w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": "x", "mode": "create"})
			message := refused.invalid()
			if !strings.HasPrefix(message, "uri: ") || strings.Contains(message, "scopes") || strings.Contains(message, "owner") {
				t.Errorf("%s: %s", uri, message)
			}
			w.ask("POST", "/api/v1/fs/mv", object{"from_uri": shared, "to_uri": uri}).want(http.StatusBadRequest)
		}
		for _, a := range []*answer{
			w.ask("POST", "/api/v1/content/write", object{"uri": shared, "content": "y"}, bob),
			w.ask("POST", "/api/v1/content/set_tags", object{"uri": shared, "tags": []string{"a=b"}}, bob),
			w.ask("POST", "/api/v1/fs/mv", object{"from_uri": shared, "to_uri": "viking://agent/memories/tools/y.md"}, bob),
			w.ask("DELETE", at("/api/v1/fs", shared), nil, bob),
		} {
			if message := a.forbidden(); strings.Contains(message, id) || !strings.Contains(message, "the item belongs to ") {
				t.Errorf("%s: %s", a.what, message)
			}
		}
	})
}
