package viking_test

import (
	"net/http"
	"testing"
)

func TestASkillLiesWhereItsTargetSays(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		keys := w.who(true, "amy", "ben")
		amy, ben := keys[0], keys[1]
		add := func(name, target string) *answer {
			return w.ask("POST", "/api/v1/skills", object{"data": object{"name": name, "description": "d", "content": "about " + name}, "target_uri": target}, amy)
		}
		shows := func(path string, by header) int { return w.ask("GET", "/api/v1/skills/"+path, nil, by).status }
		for target, uri := range map[string]string{
			"viking://~/skills": "viking://user/amy/skills/a", "viking://user/skills/": "viking://user/amy/skills/b",
			"viking://user/amy/skills/c": "viking://user/amy/skills/c", "viking://tenants/default/user/amy/skills": "viking://tenants/default/user/amy/skills/d",
		} {
			name := uri[len(uri)-1:]
			same[any](t, add(name, target).object()["uri"], uri, target)
			same(t, shows(name, amy), http.StatusOK, target)
			same(t, shows(name, ben), http.StatusNotFound, target)
		}
		// The same name in another directory is another skill.
		same(t, add("a", "viking://agent/skills").object()["uri"], "viking://agent/skills/a")
		for path, uri := range map[string]string{"a": "viking://user/amy/skills/a", "a?target_uri=viking://agent/skills": "viking://agent/skills/a"} {
			same[any](t, w.ask("GET", "/api/v1/skills/"+path, nil, amy).object()["uri"], uri, path)
		}
		w.ask("PUT", "/api/v1/skills/b",
			object{"data": object{"name": "b", "description": "d"}, "target_uri": "viking://agent/skills"}, amy).missing()
		w.ask("DELETE", "/api/v1/skills/a?target_uri=viking://agent/skills", nil, amy).object()
		same(t, shows("a", amy), http.StatusOK, "the other skill of the name was removed")
		before := w.position()
		for _, target := range []string{"viking://resources/x", "viking://user/ben/skills", "viking://agent/skills/deeper/down", "viking://~/memories"} {
			add("x", target).invalid()
		}
		add("x", "viking://tenants/other/agent/skills").forbidden()
		same(t, w.position(), before)
	})
}

func TestNoRequestWidensAnAudience(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		amy := w.who(true, "amy")[0]
		// A field that says where something goes is not ignored.
		upload := w.upload("x.md", "", []byte("x"), amy)
		uploaded := w.position()
		for path, body := range map[string]object{
			"/api/v1/resources":           {"temp_file_id": upload, "target": "viking://~/resources"},
			"/api/v1/skills":              {"data": object{"name": "x", "description": "d"}, "to": "viking://~/skills"},
			"/api/v1/content/write":       {"uri": "viking://resources/x.md", "content": "x", "mode": "create", "scopes": []string{"user:amy"}},
			"/api/v1/content/batch-write": {"root_uri": "viking://resources/x", "operations": []object{{"uri": "viking://resources/x/y.md", "content": "y"}}, "visibility": "private"},
			"/api/v1/fs/mkdir":            {"uri": "viking://resources/x", "description": "x", "scope": "user:amy"},
		} {
			w.ask("POST", path, body, amy).invalid()
		}
		same(t, w.position(), uploaded)
		// What comes in the place of something is for the same.
		const place = "viking://resources/plan"
		id := w.put(place+"/plan.md", amy)
		w.ask("PATCH", "/v1/knowledge/"+id, object{"scopes": []string{"user:amy"}}, amy).want(http.StatusOK)
		w.ask("POST", "/api/v1/resources", object{"temp_file_id": upload, "to": place}, amy).object()
		next := w.ask("GET", at("/api/v1/fs/stat", place+"/x.md"), nil, amy).object()["meta"].(object)["id"].(string)
		w.belongs(next, "user:amy", amy, "user:amy")
		w.put(place+"/other.md", amy)
		again := w.upload("x.md", "", []byte("x"), amy)
		w.ask("POST", "/api/v1/resources", object{"temp_file_id": again, "to": place}, amy).refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
		w.read(place+"/other.md", amy)
		// A directory is known to those who see what is in it.
		secret := w.put("viking://resources/secret/a.md", amy)
		w.ask("PATCH", "/v1/knowledge/"+secret, object{"scopes": []string{"user:amy"}}, amy).want(http.StatusOK)
		w.ask("POST", "/api/v1/relations/link", object{"from_uri": "viking://resources/secret", "to_uris": place + "/other.md"}, amy).object()
		about := w.ask("GET", at("/api/v1/fs/stat", "viking://resources/secret/.abstract.md"), nil, amy).object()["meta"].(object)["id"].(string)
		w.belongs(about, "user:amy", amy, "user:amy")
	})
}

func TestWhatIsWrittenUnderAnOrganisationsNameIsForTheOrganisation(t *testing.T) {
	each(t, keyed, func(_ *testing.T, w *world) {
		amy := w.keyFor(object{"subject": "user:amy", "memberships": []string{"org:research"}, "publish_public": true})
		id := w.put("viking://tenants/research/resources/plan.md", amy)
		w.belongs(id, "user:amy", amy, "org:research")
	})
}
