package viking_test

import (
	"net/http"
	"testing"
)

// related are the URIs that a place has to do with.
func (w *world) related(uri string, headers ...header) []string {
	w.t.Helper()
	uris := []string{}
	for _, r := range w.ask("GET", at("/api/v1/relations", uri), nil, headers...).result().([]any) {
		uris = append(uris, r.(object)["uri"].(string))
	}
	return uris
}

func (w *world) link(from string, to ...string) {
	w.t.Helper()
	w.ask("POST", "/api/v1/relations/link", object{"from_uri": from, "to_uris": to, "reason": "why not"}).result()
}

func (w *world) wantRelated(uri string, want ...string) {
	w.t.Helper()
	same(w.t, w.related(uri), append([]string{}, want...), uri)
}

func TestRelationsGoWhereWhatTheyLeadToGoes(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		for uri, content := range map[string]string{
			"viking://resources/guide/one.md": "one", "viking://resources/guide/two.md": "two", "viking://resources/api/errors.md": "errors",
		} {
			w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": content, "mode": "create"}).result()
		}
		const one, errors = "viking://resources/guide/one.md", "viking://resources/api/errors.md"
		w.link(one, errors, "viking://resources/api", "viking://resources/guide/two.md")
		w.wantRelated(one, errors, "viking://resources/api", "viking://resources/guide/two.md")

		w.ask("POST", "/api/v1/fs/mv", object{"from_uri": "viking://resources/api", "to_uri": "viking://resources/gateway"}).result()
		w.wantRelated(one, "viking://resources/gateway/errors.md", "viking://resources/gateway", "viking://resources/guide/two.md")
		same(t, w.ask("GET", at("/api/v1/content/abstract", "viking://resources/gateway"), nil).result(),
			"errors", "a directory that was linked is about")
		w.ask("POST", "/api/v1/fs/mv", object{"from_uri": one, "to_uri": "viking://resources/first.md"}).result()
		w.wantRelated("viking://resources/first.md", "viking://resources/gateway/errors.md", "viking://resources/gateway", "viking://resources/guide/two.md")

		w.ask("DELETE", at("/api/v1/fs", "viking://resources/guide/two.md"), nil).result()
		w.wantRelated("viking://resources/first.md", "viking://resources/gateway/errors.md", "viking://resources/gateway")
		w.ask("DELETE", at("/api/v1/fs", "viking://resources/gateway", "recursive=true"), nil).result()
		w.wantRelated("viking://resources/first.md")
	})
}

func TestRelationsAreFactsAboutAnItem(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		from := w.remember(object{"id": "from", "content": "retry with jitter", "uri": "viking://resources/retry.md"})
		to := w.remember(object{"id": "to", "content": "the gateway", "uri": "viking://resources/gateway.md"})
		w.link("viking://resources/retry.md", "viking://resources/gateway.md")
		w.link("viking://resources/retry.md", "viking://resources/gateway.md") // again changes nothing
		got := w.ask("GET", "/v1/knowledge/"+from, nil).want(http.StatusOK).json()
		relations, _ := got["relations"].([]any)
		like(t, relations, []any{object{"to": to, "reason": "why not"}}, "the item is")
		like(t, got, object{"revision": 2.0}, "the item is")
		history := w.ask("GET", "/v1/knowledge/"+from+"/history", nil).want(http.StatusOK).json()["items"].([]any)
		same(t, len(history), 2, "its history is")
		like(t, history[len(history)-1].(object), object{"name": "relation.linked", "reason": "why not"}, "its history is")
		// And what is said there, is seen here.
		w.ask("DELETE", "/v1/knowledge/"+from+"/relations/"+to, nil).want(http.StatusOK)
		w.wantRelated("viking://resources/retry.md")
		w.ask("POST", "/v1/knowledge/"+from+"/relations", object{"to": []string{to}}).want(http.StatusOK)
		w.wantRelated("viking://resources/retry.md", "viking://resources/gateway.md")
		for _, bad := range []object{{}, {"to": []string{}}, {"to": []string{from}}, {"to": []string{"nobody"}}, {"to": []string{"no id"}}} {
			w.ask("POST", "/v1/knowledge/"+from+"/relations", bad).want(http.StatusUnprocessableEntity)
		}
		w.ask("POST", "/v1/knowledge/nobody/relations", object{"to": []string{to}}).want(http.StatusNotFound)

		w.ask("DELETE", "/v1/knowledge/"+to+"?erase=true", nil).want(http.StatusNoContent)
		w.wantRelated("viking://resources/retry.md")
		w.ask("DELETE", "/v1/knowledge/"+from+"?erase=true", nil).want(http.StatusNoContent)
		like(t, string(w.ask("GET", "/v1/knowledge/"+from+"/history", nil).want(http.StatusOK).body),
			lacking("why not"), "the reason is still there")
	})
}

func TestOnlyItsOwnerSaysWhatAnItemHasToDoWith(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		given := func(subject string) header {
			return w.keyFor(object{"subject": subject, "role": "member", "publish_public": true}, "Annals-Tenant: default")
		}
		una, bo := given("user:una"), given("user:bo")
		w.remember(object{"id": "hers", "content": "shared", "uri": "viking://resources/hers.md", "scopes": []string{"public"}}, una)
		w.remember(object{"id": "secret", "content": "secret", "uri": "viking://user/una/memories/secret.md"}, una)
		w.remember(object{"id": "his", "content": "his", "uri": "viking://user/bo/memories/his.md"}, bo)
		link := object{"from_uri": "viking://resources/hers.md", "to_uris": "viking://user/bo/memories/his.md"}
		w.ask("POST", "/api/v1/relations/link", link, bo).forbidden()
		link["from_uri"], link["to_uris"] = "viking://user/bo/memories/his.md", "viking://user/una/memories/secret.md"
		w.ask("POST", "/api/v1/relations/link", link, bo).missing()
		w.ask("POST", "/api/v1/relations/link", object{"from_uri": "viking://resources/hers.md", "to_uris": "viking://user/una/memories/secret.md"}, una).result()
		same(t, len(w.related("viking://resources/hers.md", bo)), 0, "bo learns of")
	})
}
