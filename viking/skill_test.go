package viking_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestASkillSurvivesARoundTrip(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		add := func(data any) object {
			return w.ask("POST", "/api/v1/skills", object{"data": data, "env": object{"os": "linux"}}).object()
		}
		// The contract's own request.
		got := add(object{"name": "sales-dashboard-builder", "description": "Build dashboards from xlsx", "content": "# Steps…"})
		if got["status"] != "success" || got["uri"] != "viking://agent/skills/sales-dashboard-builder" || got["name"] != "sales-dashboard-builder" || got["auxiliary_files"] != 0.0 {
			t.Errorf("added %v", got)
		}
		add("---\nname: 部署 服务\ndescription: >\n  怎样部署: 一步\n  一步来\nallowed-tools: [Bash, \"Read\"]\ntags:\n  - ops\n  - 'it''s'\n---\n# 部署\n先构建。\n")
		add(object{"name": "get_weather", "description": "Tells the weather", "inputSchema": object{
			"type": "object", "properties": object{"city": object{"type": "string", "description": "Where"}}, "required": []string{"city"},
		}})
		show := func(name string) object { return w.ask("GET", "/api/v1/skills/"+name, nil).object() }
		if got := show("sales-dashboard-builder"); got["description"] != "Build dashboards from xlsx" || !strings.HasSuffix(got["content"].(string), "\n# Steps…") ||
			!strings.HasPrefix(got["content"].(string), "---\nname: sales-dashboard-builder\n") {
			t.Errorf("read %v", got)
		}
		deploy := show("部署_服务")
		if deploy["name"] != "部署 服务" || deploy["description"] != "怎样部署: 一步 一步来" || len(deploy["allowed_tools"].([]any)) != 2 || deploy["tags"].([]any)[1] != "it's" {
			t.Errorf("read %v", deploy)
		}
		if got := show("get_weather")["content"].(string); !strings.Contains(got, "- `city` (string, required): Where") || !strings.Contains(got, "```json\n{") {
			t.Errorf("read %s", got)
		}
		// What was read can be written again, and changes nothing.
		before := w.position()
		add(deploy["content"])
		if after := w.position(); after != before {
			t.Errorf("%d events were recorded for what was there", after-before)
		}
		list := w.ask("GET", "/api/v1/skills", nil).object()
		if list["total"] != 3.0 || len(list["root_uris"].([]any)) != 3 || list["skills"].([]any)[2].(object)["root_uri"] != "viking://agent/skills" {
			t.Errorf("listed %v", list)
		}
		if got := w.ask("GET", "/api/v1/skills?node_limit=1&target_uri=viking://agent/skills", nil).object(); got["total"] != 1.0 {
			t.Errorf("listed %v", got)
		}
		hits := w.ask("POST", "/api/v1/skills/find", object{"query": "dashboards", "limit": 3}).object()
		if hits["total"] != 1.0 || hits["skills"].([]any)[0].(object)["uri"] != "viking://agent/skills/sales-dashboard-builder" {
			t.Errorf("found %v", hits)
		}
		if got := w.ask("GET", at("/api/v1/content/read", "viking://agent/skills/get_weather"), nil).result().(string); !strings.HasPrefix(got, "---\nname: get_weather\n") {
			t.Errorf("read %s", got)
		}
		add(object{"name": "get_weather", "description": "Tells tomorrow's weather", "content": "Look up"})
		if got := show("get_weather"); got["description"] != "Tells tomorrow's weather" || !strings.HasSuffix(got["content"].(string), "Look up") {
			t.Errorf("read %v", got)
		}
		w.ask("DELETE", at("/api/v1/resources", "viking://agent/skills"), nil).refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
		w.ask("DELETE", at("/api/v1/resources", "viking://agent/skills/sales-dashboard-builder"), nil).result()
		w.ask("GET", "/api/v1/skills/sales-dashboard-builder", nil).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("PUT", "/api/v1/skills/get_weather", object{"data": object{"name": "get_weather", "description": "d", "content": "c"}}).result()
		w.ask("PUT", "/api/v1/skills/nothing", object{"data": object{"name": "nothing", "description": "d"}}).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("PUT", "/api/v1/skills/get_weather", object{"data": object{"name": "other", "description": "d"}}).refused(http.StatusBadRequest, "SKILL_INVALID")
		if got := w.ask("DELETE", "/api/v1/skills/get_weather", nil).object(); got["uri"] != "viking://agent/skills/get_weather" {
			t.Errorf("removed %v", got)
		}
		w.ask("DELETE", "/api/v1/skills/get_weather", nil).refused(http.StatusNotFound, "NOT_FOUND")
		w.ask("GET", "/api/v1/skills/get_weather", nil).refused(http.StatusNotFound, "NOT_FOUND")
	})
}

func TestWhatIsNoSkillIsRefused(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for _, data := range []any{
			"# no front matter", "---\nname: x\n---\nbody", "---\ndescription: x\n---\n", object{"name": "x"}, object{"description": "x"}, []string{"x"}, 7, "/etc/passwd",
		} {
			w.ask("POST", "/api/v1/skills", object{"data": data}).refused(http.StatusBadRequest, "SKILL_INVALID")
			if got := w.ask("POST", "/api/v1/skills/validate", object{"data": data, "strict": true}).object(); got["valid"] != false || len(got["errors"].([]any)) != 1 {
				t.Errorf("%v: %v", data, got)
			}
		}
		w.ask("POST", "/api/v1/skills", object{}).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		if got := w.ask("POST", "/api/v1/skills/validate", object{"data": object{"name": "x", "description": "y"}}).object(); got["valid"] != true || got["name"] != "x" {
			t.Errorf("got %v", got)
		}
		if got := w.ask("GET", "/api/v1/skills", nil).object(); got["total"] != 0.0 {
			t.Errorf("listed %v", got)
		}
	})
}
