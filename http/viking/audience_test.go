package viking_test

import (
	"net/http"
	"testing"
)

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
