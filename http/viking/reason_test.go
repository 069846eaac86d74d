package viking_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestEveryChangeSaysWhy(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const place = "viking://agent/memories/tools/grep.md"
		w.write(place, "grep")
		id := w.ask("GET", at("/api/v1/fs/stat", place), nil).object()["meta"].(object)["id"].(string)
		w.ask("POST", "/api/v1/content/write", object{"uri": place, "content": "grep -r", "reason": "it looks below"}).object()
		w.ask("POST", "/api/v1/content/batch-write", object{
			"root_uri": "viking://agent/memories/tools", "reason": "and numbers", "operations": []object{{"uri": place, "content": "grep -rn"}},
		}).object()
		w.ask("POST", "/api/v1/content/set_tags", object{"uri": place, "tags": []string{"kind=search"}, "reason": "to find it"}).object()
		w.ask("POST", "/api/v1/fs/mv", object{"from_uri": place, "to_uri": "viking://agent/memories/tools/find.md", "reason": "a better name"}).object()
		w.ask("DELETE", at("/api/v1/fs", "viking://agent/memories/tools/find.md", "reason=out+of+use"), nil).object()
		var why []any
		for _, step := range w.ask("GET", "/v1/knowledge/"+id+"/history", nil).want(http.StatusOK).json()["items"].([]any) {
			why = append(why, step.(object)["reason"])
		}
		want := []any{nil, "it looks below", "and numbers", "to find it", "a better name", "out of use"}
		if len(why) != len(want) {
			t.Fatalf("because of %v", why)
		}
		for i := range want {
			same(t, why[i], want[i], i)
		}

		skill := object{"data": object{"name": "s", "description": "d", "content": "Do."}, "reason": "it works"}
		w.ask("POST", "/api/v1/skills", skill).object()
		long := strings.Repeat("x", 2001)
		w.ask("POST", "/api/v1/content/write",
			object{"uri": place, "content": "grep", "mode": "create", "reason": long}).invalid()
		w.ask("DELETE", at("/api/v1/fs", "viking://agent/skills/s", "recursive=true", "reason="+long), nil).invalid()
		w.ask("GET", "/api/v1/skills/s", nil).object()
	})
}
