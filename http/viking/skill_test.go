package viking_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

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

// What a client says of a skill besides its name and description is in its front matter, wherever it was said.
func TestASkillKeepsItsMetadata(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		about := object{"env": object{"python": "3.12"}, "version": 2.0}
		const text = "---\nname: NAME\ndescription: Draws charts\nlicense: MIT\nmetadata:\n  env: {python: \"3.12\"}\n  version: 2\n---\n\nRun draw.py."
		for name, body := range map[string]object{
			"in-data":    {"data": object{"name": "in-data", "description": "d", "content": "Run it.", "metadata": about}},
			"beside":     {"data": object{"name": "beside", "description": "d", "content": "Run it."}, "metadata": about},
			"as-text":    {"data": strings.ReplaceAll(text, "NAME", "as-text")},
			"text-in-it": {"data": object{"name": "text-in-it", "description": "d", "content": strings.ReplaceAll(text, "NAME", "text-in-it"), "metadata": about}},
		} {
			like(t, w.ask("POST", "/api/v1/skills", body).object(), object{"warnings": nil}, name)
			shown := w.ask("GET", "/api/v1/skills/"+name, nil).object()
			like(t, shown, object{"metadata": about, "content": containing("version: 2")}, name)
		}
		odd := "---\nname: odd\ndescription: d\nmetadata: {score: .nan}\n---\n\nRun it."
		like(t, w.ask("POST", "/api/v1/skills", object{"data": odd}).object(), object{"warnings": count(1)})
	})
}
