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
		like(t, w.ask("DELETE", "/api/v1/skills/colons", nil).object(), object{"name": "colons"})
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
		same(t, w.position(), before)
		list := w.ask("GET", "/api/v1/skills", nil).object()
		if list["total"] != 3.0 || len(list["root_uris"].([]any)) != 3 || list["skills"].([]any)[2].(object)["root_uri"] != "viking://agent/skills" {
			t.Errorf("listed %v", list)
		}
		like(t, w.ask("GET", "/api/v1/skills?node_limit=1&target_uri=viking://agent/skills", nil).object(),
			object{"total": 1.0})
		hits := w.ask("POST", "/api/v1/skills/find", object{"query": "dashboards", "limit": 3}).object()
		like(t, hits, object{"total": 1.0, "skills": []any{object{"uri": "viking://agent/skills/sales-dashboard-builder"}}})
		like(t, w.read("viking://agent/skills/get_weather").(string), beginning("---\nname: get_weather\n"))
		add(object{"name": "get_weather", "description": "Tells tomorrow's weather", "content": "Look up"})
		like(t, show("get_weather"), object{"description": "Tells tomorrow's weather", "content": ending("Look up")})
		w.ask("DELETE", at("/api/v1/resources", "viking://agent/skills"), nil).refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
		w.ask("DELETE", at("/api/v1/resources", "viking://agent/skills/sales-dashboard-builder"), nil).result()
		w.ask("GET", "/api/v1/skills/sales-dashboard-builder", nil).missing()
		w.ask("PUT", "/api/v1/skills/get_weather", object{"data": object{"name": "get_weather", "description": "d", "content": "c"}}).result()
		w.ask("PUT", "/api/v1/skills/nothing", object{"data": object{"name": "nothing", "description": "d"}}).missing()
		w.ask("PUT", "/api/v1/skills/get_weather", object{"data": object{"name": "other", "description": "d"}}).refused(http.StatusBadRequest, "SKILL_INVALID")
		like(t, w.ask("DELETE", "/api/v1/skills/get_weather", nil).object(),
			object{"uri": "viking://agent/skills/get_weather"})
		w.ask("DELETE", "/api/v1/skills/get_weather", nil).missing()
		w.ask("GET", "/api/v1/skills/get_weather", nil).missing()
	})
}

func TestWhatIsNoSkillIsRefused(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for _, data := range []any{
			"# no front matter", "---\nname: x\n---\n", "---\ndescription: x\n---\n", object{"name": "x"}, object{"description": "x"}, []string{"x"}, 7, "/etc/passwd",
		} {
			w.ask("POST", "/api/v1/skills", object{"data": data}).refused(http.StatusBadRequest, "SKILL_INVALID")
			like(t, w.ask("POST", "/api/v1/skills/validate", object{"data": data, "strict": true}).object(),
				object{"valid": false, "errors": count(1)}, data)
		}
		w.ask("POST", "/api/v1/skills", object{}).invalid()
		like(t, w.ask("POST", "/api/v1/skills/validate", object{"data": object{"name": "x", "description": "y"}}).object(),
			object{"valid": true, "name": "x"})
		like(t, w.ask("GET", "/api/v1/skills", nil).object(), object{"total": 0.0})
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
		like(t, added, object{"uri": root, "auxiliary_files": 3.0, "warnings": count(1)})
		paths := func() (all []string) {
			shown := w.ask("GET", "/api/v1/skills/charts", nil, amy).object()
			like(t, shown, object{"description": "Draws charts", "content": text})
			for _, f := range shown["files"].([]any) {
				f := f.(object)
				like(t, f, object{"uri": root + "/" + f["path"].(string), "is_dir": false}, "a file is")
				all = append(all, f["path"].(string)+" "+f["kind"].(string))
			}
			slices.Sort(all)
			return all
		}
		same(t, paths(),
			[]string{"SKILL.md definition", "logo.png auxiliary", "my notes.txt auxiliary", "scripts/draw.py auxiliary"})
		same[any](t, w.read(root+"/scripts/draw.py", amy), script)
		same(t, string(w.ask("GET", at("/api/v1/content/download", root+"/logo.png"), nil, amy).want(http.StatusOK).body),
			"\x89PNG\x00")
		w.ask("GET", at("/api/v1/content/read", root+"/scripts/draw.py"), nil, ben).missing()
		for _, path := range []string{"/api/v1/skills", "/api/v1/skills?target_uri=viking://~/skills"} {
			same(t, w.ask("GET", path, nil, amy).object()["total"], 1.0, path)
		}
		like(t, w.ask("POST", "/api/v1/skills/find", object{"query": "charts draw"}, amy).object(), object{"total": 1.0})
		add(entry{"SKILL.md", text}, entry{"scripts/plot.py", script}).object()
		same(t, paths(), []string{"SKILL.md definition", "scripts/plot.py auxiliary"}, "its files are")
		w.ask("DELETE", "/api/v1/skills/charts", nil, amy).object()
		w.ask("GET", at("/api/v1/content/read", root+"/scripts/plot.py"), nil, amy).missing()
		before := w.position()
		for _, entries := range [][]entry{
			{{"readme.md", "x"}}, {{"a/SKILL.md", text}, {"b/SKILL.md", text}}, {{"charts/SKILL.md", text}, {"other/x.md", "x"}}, {{"SKILL.md", text}, {" x.md", "x"}},
		} {
			add(entries...).refused(http.StatusBadRequest, "SKILL_INVALID")
		}
		add(entry{"SKILL.md", text}, entry{"../x.md", "x"}).invalid()
		same(t, w.position(), before)
	})
}
