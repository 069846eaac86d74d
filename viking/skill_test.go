package viking_test

import (
	"net/http"
	"slices"
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
		add("---\nname: colons\ndescription: Use it when: asked\n---\n")
		if got := w.ask("DELETE", "/api/v1/skills/colons", nil).object(); got["name"] != "colons" {
			t.Errorf("removed %v", got)
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
			"# no front matter", "---\nname: x\n---\n", "---\ndescription: x\n---\n", object{"name": "x"}, object{"description": "x"}, []string{"x"}, 7, "/etc/passwd",
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

func TestASkillIsADirectory(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		keys := w.who(true, "amy", "ben")
		amy, ben := keys[0], keys[1]
		add := func(entries ...entry) *answer {
			id := w.upload("tmp.zip", "application/zip", zipped(t, entries...), amy)
			return w.ask("POST", "/api/v1/skills", object{"temp_file_id": id, "target_uri": "viking://~/skills", "source_metadata": object{"type": "git"}}, amy)
		}
		const text = "---\nname: charts\n---\n\n# Draws charts\n\nRun scripts/draw.py."
		script := "#!/usr/bin/env python3\nprint(1)\n"
		added := add(entry{"charts/SKILL.md", text}, entry{"charts/scripts/draw.py", script}, entry{"charts/my notes.txt", ""}, entry{"charts/logo.png", "\x89PNG\x00"}).object()
		const root = "viking://user/amy/skills/charts"
		if added["uri"] != root || added["auxiliary_files"] != 3.0 || len(added["warnings"].([]any)) != 1 {
			t.Errorf("added %v", added)
		}
		paths := func() (all []string) {
			shown := w.ask("GET", "/api/v1/skills/charts", nil, amy).object()
			if shown["description"] != "Draws charts" || shown["content"] != text {
				t.Errorf("shown %v", shown)
			}
			for _, f := range shown["files"].([]any) {
				f := f.(object)
				if f["uri"] != root+"/"+f["path"].(string) || f["is_dir"] != false {
					t.Errorf("a file is %v", f)
				}
				all = append(all, f["path"].(string)+" "+f["kind"].(string))
			}
			slices.Sort(all)
			return all
		}
		if got := paths(); !slices.Equal(got, []string{"SKILL.md definition", "logo.png auxiliary", "my notes.txt auxiliary", "scripts/draw.py auxiliary"}) {
			t.Errorf("its files are %q", got)
		}
		if got := w.ask("GET", at("/api/v1/content/read", root+"/scripts/draw.py"), nil, amy).result(); got != script {
			t.Errorf("read %q", got)
		}
		if got := w.ask("GET", at("/api/v1/content/download", root+"/logo.png"), nil, amy).want(http.StatusOK).body; string(got) != "\x89PNG\x00" {
			t.Errorf("downloaded %q", got)
		}
		w.ask("GET", at("/api/v1/content/read", root+"/scripts/draw.py"), nil, ben).refused(http.StatusNotFound, "NOT_FOUND")
		for _, path := range []string{"/api/v1/skills", "/api/v1/skills?target_uri=viking://~/skills"} {
			if got := w.ask("GET", path, nil, amy).object()["total"]; got != 1.0 {
				t.Errorf("%s: %v skills are listed", path, got)
			}
		}
		if hits := w.ask("POST", "/api/v1/skills/find", object{"query": "charts draw"}, amy).object(); hits["total"] != 1.0 {
			t.Errorf("found %v", hits)
		}
		add(entry{"SKILL.md", text}, entry{"scripts/plot.py", script}).object()
		if got := paths(); !slices.Equal(got, []string{"SKILL.md definition", "scripts/plot.py auxiliary"}) {
			t.Errorf("its files are %q", got)
		}
		w.ask("DELETE", "/api/v1/skills/charts", nil, amy).object()
		w.ask("GET", at("/api/v1/content/read", root+"/scripts/plot.py"), nil, amy).refused(http.StatusNotFound, "NOT_FOUND")
		before := w.position()
		for _, entries := range [][]entry{
			{{"readme.md", "x"}}, {{"a/SKILL.md", text}, {"b/SKILL.md", text}}, {{"charts/SKILL.md", text}, {"other/x.md", "x"}}, {{"SKILL.md", text}, {" x.md", "x"}},
		} {
			add(entries...).refused(http.StatusBadRequest, "SKILL_INVALID")
		}
		add(entry{"SKILL.md", text}, entry{"../x.md", "x"}).refused(http.StatusBadRequest, "INVALID_ARGUMENT")
		if after := w.position(); after != before {
			t.Errorf("%d events were recorded", after-before)
		}
	})
}
