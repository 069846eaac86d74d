package scim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/scim"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/keys"
	"github.com/annals-kb/annals/projections/people"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object = map[string]any

// world is a server, and the key of an identity provider.
type world struct {
	t        *testing.T
	url, key string
}

const rootKey = "0123456789abcdef0123456789abcdef"

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		parts := servertest.Open(t, db, events.Options{})
		cfg := parts.Config(t)
		held := keys.NewKeys(db, parts.Log)
		cfg.Callers.Keys, cfg.Callers.RootKey, cfg.Writer = held, rootKey, events.NewScrubbingWriter(parts.Log, true)
		surface := scim.Server{Writer: cfg.Writer, Directory: people.Directory{Log: parts.Log.Reader}, Keys: held}
		cfg.Mounts = []annalshttp.Mount{{Paths: []string{scim.Path}, Handler: surface.Answer, Refuse: surface.Refuse}}
		server := httptest.NewUnstartedServer(cfg.New().Handler())
		server.Config.BaseContext = func(net.Listener) context.Context {
			return database.ForTenant(context.WithoutCancel(t.Context()), "")
		}
		server.Start()
		t.Cleanup(server.Close)
		w := &world{t, server.URL, rootKey}
		w.key = w.give("user:entra", "admin")
		test(w)
	})
}

func (w *world) give(subject, role string) string {
	_, made := w.as(rootKey, "POST", "/v1/keys", object{"subject": subject, "role": role}, 201)
	return made["key"].(string)
}

// as sends a request with a key, and fails the test unless the answer has a status.
func (w *world) as(key, method, path string, body any, status int) (http.Header, object) {
	w.t.Helper()
	got, header, read := servertest.Send(w.t, http.DefaultClient,
		servertest.Request(w.t, method, w.url+path, body, "Authorization: Bearer "+key))
	if got != status {
		w.t.Fatalf("%s %s: got %d, want %d\n%s", method, path, got, status, read)
	}
	var answer object
	if err := json.Unmarshal(read, &answer); err != nil && len(read) > 0 {
		w.t.Fatalf("%s %s: %v\n%s", method, path, err, read)
	}
	return header, answer
}

func (w *world) ask(method, path string, body any, status int) object {
	w.t.Helper()
	_, answer := w.as(w.key, method, scim.Path+path, body, status)
	return answer
}

// twice sends a request two times, and fails the test if the second one gets another answer or records an event.
func (w *world) twice(method, path string, body any) object {
	w.t.Helper()
	first := w.ask(method, path, body, 200)
	before := w.position()
	servertest.Like(w.t, w.ask(method, path, body, 200), first, method, path)
	servertest.Same(w.t, w.position(), before, "the second", method, path, "recorded events:")
	return first
}

// position is that of the newest event.
func (w *world) position() string {
	w.t.Helper()
	_, list := w.as(rootKey, "GET", "/v1/events?limit=1&order=desc", nil, 200)
	return fmt.Sprint(list["items"])
}

func (w *world) found(list, filter string) (ids []string) {
	w.t.Helper()
	for _, one := range w.ask("GET", list+"?filter="+url.QueryEscape(filter), nil, 200)["Resources"].([]any) {
		ids = append(ids, one.(object)["id"].(string))
	}
	return ids
}

func ops(operations ...object) object {
	return object{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:PatchOp"}, "Operations": operations}
}

func value(ids ...string) (list []object) {
	for _, id := range ids {
		list = append(list, object{"value": id})
	}
	return list
}

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

func entraUser(name, externalID string) object {
	return object{
		"schemas":    []string{"urn:ietf:params:scim:schemas:core:2.0:User", enterprise},
		"externalId": externalID, "userName": name, "active": true, "displayName": "Mia Chen",
		"emails": []object{{"primary": true, "type": "work", "value": name}}, "meta": object{"resourceType": "User"},
		"name": object{"formatted": "Mia Chen", "familyName": "Chen", "givenName": "Mia"}, enterprise: object{"department": "Payments"},
	}
}

func TestEntraIDKeepsUsers(t *testing.T) {
	each(t, func(w *world) {
		servertest.Same(w.t, len(w.found("Users", `userName eq "mia@example.com"`)), 0)
		body := entraUser("mia@example.com", "0b9a")
		header, made := w.as(w.key, "POST", scim.Path+"Users", body, 201)
		id := made["id"].(string)
		servertest.Same(w.t, id, "user:mia@example.com")
		servertest.Like(w.t, made, object{
			"userName": "mia@example.com", "externalId": "0b9a", "displayName": "Mia Chen", "active": true,
			"meta": object{"resourceType": "User", "location": w.url + scim.Path + "Users/user:mia@example.com"},
		})
		servertest.Same(w.t, header.Get("Location"), w.url+scim.Path+"Users/user:mia@example.com")
		servertest.Same(w.t, header.Get("Content-Type"), "application/scim+json")
		before := w.position()
		refused := w.ask("POST", "Users", body, 409)
		servertest.Like(w.t, refused, object{"scimType": "uniqueness", "status": "409"})
		servertest.Same(w.t, w.position(), before)
		for _, filter := range []string{
			`userName eq "MIA@example.com"`, `externalId eq "0b9a" and active eq "True"`, `id eq "user:mia@example.com"`,
			`displayName co "chen" and userName sw "mia"`, `not (userName eq "x") and active eq true and displayName pr`,
		} {
			servertest.Like(w.t, w.found("Users", filter), []string{id}, filter)
		}
		path := "Users/" + url.PathEscape(id)
		servertest.Like(w.t, w.twice("PATCH", path, ops(
			object{"op": "Replace", "path": "displayName", "value": "Mia C."},
			object{"op": "Add", "path": enterprise + ":department", "value": "Risk"},
			object{"op": "Add", "path": `emails[type eq "work"].value`, "value": "m@example.com"},
			object{"op": "Replace", "path": "urn:ietf:params:scim:schemas:core:2.0:User:externalId", "value": "0b9b"},
		)), object{"displayName": "Mia C.", "externalId": "0b9b"})

		key := w.give(id, "member")
		w.as(key, "GET", "/v1/whoami", nil, 200)
		w.twice("PATCH", path, ops(object{"op": "Replace", "path": "active", "value": "False"}))
		w.as(key, "GET", "/v1/whoami", nil, 401)
		on := w.twice("PATCH", path, ops(object{"op": "Add", "path": "active", "value": "True"}))
		servertest.Like(w.t, on, object{"active": true})
		w.as(key, "GET", "/v1/whoami", nil, 401) // its key stays revoked
	})
}

func TestOktaKeepsUsersAndGroups(t *testing.T) {
	each(t, func(w *world) {
		user := func(name string) object {
			return object{
				"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:User"}, "userName": name, "externalId": "00u" + name,
				"name": object{"givenName": "Lee", "familyName": "Wong"}, "displayName": "Lee Wong", "locale": "en-US",
				"groups": []string{}, "active": true, "password": "x1y2z3",
			}
		}
		for _, name := range []string{"lee", "ann"} {
			servertest.Like(w.t, w.ask("POST", "Users", user(name), 201), object{"displayName": "Lee Wong"})
		}
		servertest.Like(w.t, w.twice("PUT", "Users/user:lee", object{"displayName": "Lee W."}), object{"displayName": "Lee W."})
		w.twice("PATCH", "Users/user:lee", ops(object{"op": "replace", "value": object{"active": false}}))
		w.twice("PATCH", "Users/user:lee", ops(object{"op": "replace", "value": object{"active": true}}))

		made := w.ask("POST", "Groups", object{"displayName": "Card Payments", "members": []object{}}, 201)
		id := made["id"].(string)
		servertest.Same(w.t, id, "team:Card-Payments")
		servertest.Like(w.t, w.ask("POST", "Groups", object{"displayName": "Card Payments"}, 409),
			object{"scimType": "uniqueness"})
		group := w.twice("PATCH", "Groups/"+id, ops(object{"op": "replace", "value": object{"id": id, "displayName": "Cards"}}))
		servertest.Like(w.t, group, object{"displayName": "Cards"})
		both := w.twice("PATCH", "Groups/"+id, ops(object{"op": "replace", "path": "members", "value": value("user:lee", "user:ann")}))
		servertest.Same(w.t, len(both["members"].([]any)), 2)
		one := w.twice("PUT", "Groups/"+id, object{"displayName": "Cards", "members": value("user:ann")})
		servertest.Like(w.t, one, object{"members": []any{object{"value": "user:ann", "display": "Lee Wong"}}})
		w.twice("PATCH", "Groups/"+id, ops(object{"op": "replace", "path": "members", "value": []object{}}))
	})
}

func TestMembersOfGroupsFollowEntraID(t *testing.T) {
	each(t, func(w *world) {
		w.ask("POST", "Users", entraUser("mia", "1"), 201)
		w.ask("POST", "Users", entraUser("ann", "2"), 201)
		w.as(rootKey, "PUT", "/v1/directory/agent:bot", object{}, 200)
		made := w.ask("POST", "Groups", object{"externalId": "7f3e-22", "displayName": "Payments & Risk"}, 201)
		servertest.Same(w.t, made["id"], any("team:7f3e-22"))
		const path = "Groups/team:7f3e-22"
		w.as(rootKey, "PUT", "/v1/directory/agent:bot/groups/team:7f3e-22", object{}, 200)
		key := w.give("user:mia", "member")
		belongs := func(want bool) {
			w.t.Helper()
			_, me := w.as(key, "GET", "/v1/whoami", nil, 200)
			servertest.Same(w.t, strings.Contains(fmt.Sprint(me), "team:7f3e-22"), want)
		}
		belongs(false)
		w.twice("PATCH", path, ops(object{"op": "Add", "path": "members", "value": value("user:mia", "user:ann")}))
		belongs(true)
		servertest.Same(w.t, len(w.found("Groups", `id eq "team:7f3e-22" and members eq "user:mia"`)), 1)
		servertest.Same(w.t, len(w.found("Groups", `members[value eq "user:bob"]`)), 0)
		w.twice("PATCH", path, ops(object{"op": "Remove", "path": "members", "value": value("user:mia")}))
		belongs(false)
		left := w.twice("PATCH", path, ops(object{"op": "remove", "path": `members[value eq "user:ann"]`}))
		servertest.Same(w.t, len(left["members"].([]any)), 0)
		w.ask("PATCH", path, ops(object{"op": "add", "path": "members", "value": value("user:mia")}), 200)

		servertest.Like(w.t, w.ask("GET", path+"?excludedAttributes=members", nil, 200), object{"members": nil})
		w.ask("DELETE", path, nil, 204)
		w.ask("GET", path, nil, 404)
		servertest.Same(w.t, len(w.found("Groups", `displayName co "Pay"`)), 0)
		belongs(false)
		w.ask("POST", "Groups", object{"externalId": "7f3e-22", "displayName": "Payments"}, 201)
		belongs(false)
		w.ask("PATCH", path, ops(object{"op": "add", "path": "members", "value": value("user:mia")}), 200)
		w.ask("DELETE", "Users/user:mia", nil, 204)
		before := w.position()
		w.ask("DELETE", "Users/user:mia", nil, 204)
		servertest.Same(w.t, w.position(), before)
		w.as(key, "GET", "/v1/whoami", nil, 401)
		servertest.Like(w.t, w.ask("GET", "Users/user:mia", nil, 200), object{"active": false})
		servertest.Same(w.t, len(w.ask("GET", path, nil, 200)["members"].([]any)), 0)
	})
}

func TestABadRequestChangesNothing(t *testing.T) {
	each(t, func(w *world) {
		w.ask("POST", "Users", entraUser("mia", "1"), 201)
		w.ask("POST", "Users", entraUser("ann", "2"), 201)
		w.ask("POST", "Groups", object{"displayName": "pay"}, 201)
		w.ask("PATCH", "Users/user:ann", ops(object{"op": "replace", "path": "active", "value": false}), 200)
		before := w.position()
		good := object{"op": "replace", "path": "displayName", "value": "Another"}
		for _, test := range []struct {
			method, path string
			body         any
			status       int
			word, says   string
		}{
			{"PATCH", "Users/user:mia", ops(good, object{"op": "add", "path": "shoeSize", "value": 7}), 400, "invalidPath", "shoeSize"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "add", "value": object{"shoeSize": 7}}), 400, "invalidPath", "shoeSize"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "add", "path": "members[", "value": 7}), 400, "invalidPath", "members["},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "move", "path": "active"}), 400, "invalidSyntax", "op"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "remove"}), 400, "noTarget", "path"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "replace", "path": "active", "value": "perhaps"}), 400, "invalidValue", "active"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "replace", "path": "id", "value": "user:zoe"}), 400, "mutability", "id"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "replace", "path": "userName", "value": "Ann"}), 409, "uniqueness", "user:ann"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "remove", "path": "userName"}), 400, "invalidValue", "userName"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "replace", "path": "userName", "value": strings.Repeat("x", 300)}), 400, "invalidValue", "user_name"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "replace", "path": "externalId", "value": strings.Repeat("x", 300)}), 400, "invalidValue", "external_id"},
			{"PATCH", "Groups/team:pay", ops(good, object{"op": "add", "path": "members", "value": value("user:mia", "user:zoe")}), 400, "invalidValue", "members"},
			{"PATCH", "Groups/team:pay", ops(good, object{"op": "add", "path": "members", "value": value("user:mia", "user:ann")}), 409, "", "user:ann is deactivated"},
			{"PATCH", "Groups/team:pay", ops(good, object{"op": "add", "path": "members", "value": "user:mia"}), 400, "invalidValue", "members"},
			{"PATCH", "Groups/team:pay", ops(good, object{"op": "remove", "path": "members.display"}), 400, "invalidPath", "members"},
			{"PATCH", "Users/user:mia", ops(good, object{"op": "remove", "path": "active", "value": true}), 400, "invalidValue", "active"},
			{"PATCH", "Users/user:entra", ops(good), 404, "", "User"},
			{"PATCH", "Users/team:pay", ops(good), 404, "", "User"},
			{"PATCH", "Users/user:mia", "[", 400, "invalidSyntax", "JSON"},
			{"PATCH", "Users/user:mia", object{}, 400, "invalidSyntax", "Operations"},
			{"PUT", "Users/user:mia", object{"userName": "ann", "displayName": "Zoe"}, 409, "uniqueness", "user:ann"},
			{"POST", "Users", object{"displayName": "Zoe"}, 400, "invalidValue", "userName"},
			{"POST", "Users", object{"userName": " "}, 400, "invalidValue", "userName"},
			{"GET", "Users?filter=" + url.QueryEscape(`shoeSize eq "7"`), nil, 400, "invalidFilter", "shoeSize"},
			{"GET", "Users?filter=userName", nil, 400, "invalidFilter", "filter"},
			{"GET", "Users?count=few", nil, 400, "invalidValue", "count"},
			{"GET", "Teams", nil, 404, "", "path"},
			{"DELETE", "Users", nil, 404, "", "method"},
		} {
			said := w.ask(test.method, test.path, test.body, test.status)
			word, _ := said["scimType"].(string)
			if word != test.word || !strings.Contains(said["detail"].(string), test.says) || said["status"] != fmt.Sprint(test.status) {
				w.t.Errorf("%s %s: %v, want %q and %q", test.method, test.path, said, test.word, test.says)
			}
		}
		servertest.Same(w.t, w.position(), before)
		w.as(w.give("user:mia", "member"), "GET", scim.Path+"Users", nil, 403)
		w.as("annals_wrong", "GET", scim.Path+"Users", nil, 401)
	})
}

func TestAUserKeepsTheirIDUnderAnotherName(t *testing.T) {
	each(t, func(w *world) {
		w.ask("POST", "Users", entraUser("mia", "1"), 201)
		key := w.give("user:mia", "member")
		w.as(key, "POST", "/v1/knowledge", object{"type": "plan", "content": "Ask before you deploy", "id": "hers"}, 201)
		for i, name := range []string{"mia.chen@example.com", "Mia.Chen@example.com", "m+chen@example.com", "mia"} {
			changed := w.twice("PATCH", "Users/user:mia", ops(object{"op": "Replace", "path": "userName", "value": name}))
			servertest.Like(w.t, changed, object{"id": "user:mia", "userName": name})
			servertest.Like(w.t, w.found("Users", fmt.Sprintf("userName eq %q", name)), []string{"user:mia"}, i)
		}
		servertest.Like(w.t, w.twice("PUT", "Users/user:mia", object{"userName": "mia.c", "displayName": "Mia"}), object{"userName": "mia.c"})
		_, me := w.as(key, "GET", "/v1/whoami", nil, 200)
		servertest.Like(w.t, me, object{"subject": "user:mia"})
		_, history := w.as(rootKey, "GET", "/v1/events?stream=user:mia", nil, 200)
		for _, name := range []string{"mia.chen@example.com", "m+chen@example.com", "mia.c"} {
			servertest.Like(w.t, fmt.Sprint(history), servertest.Containing("user_name:"+name))
		}
		_, listed := w.as(rootKey, "GET", "/v1/directory/user:mia", nil, 200)
		servertest.Like(w.t, listed, object{"member": "user:mia", "user_name": "mia.c"})

		another := w.ask("POST", "Users", entraUser("mia", "2"), 201) // the name is free, the id is not
		servertest.Like(w.t, another, object{"userName": "mia", "id": servertest.Beginning("user:user-")})
		w.ask("POST", "Users", entraUser("MIA", "3"), 409)
		w.ask("PATCH", "Users/user:mia", ops(object{"op": "replace", "path": "userName", "value": "mia"}), 409)
	})
}

func TestGuestsHaveAStableID(t *testing.T) {
	each(t, func(w *world) {
		for _, name := range []string{
			"lee_gmail.com#EXT#@contoso.onmicrosoft.com", "lee+test@example.com", "李@example.com", "o'neill@example.com", strings.Repeat("x", 200),
		} {
			made := w.ask("POST", "Users", object{"userName": name, "externalId": "7"}, 201)
			servertest.Like(w.t, made, object{"userName": name, "displayName": name, "id": servertest.Beginning("user:user-")})
			id := made["id"].(string)
			servertest.Like(w.t, w.ask("POST", "Users", object{"userName": strings.ToUpper(name)}, 409), object{"scimType": "uniqueness"})
			servertest.Like(w.t, w.found("Users", fmt.Sprintf("userName eq %q", name)), []string{id})
			servertest.Like(w.t, w.twice("PATCH", "Users/"+id, ops(object{"op": "replace", "path": "displayName", "value": "Lee"})), object{"id": id, "userName": name})
			w.ask("DELETE", "Users/"+id, nil, 204)
		}
	})
}

func TestAChangeOfAnotherVersionIsRefused(t *testing.T) {
	each(t, func(w *world) {
		w.ask("POST", "Users", entraUser("mia", "1"), 201)
		w.ask("POST", "Users", entraUser("ann", "2"), 201)
		w.ask("POST", "Groups", object{"displayName": "pay"}, 201)
		send := func(method, path string, body any, status int, header string) http.Header {
			w.t.Helper()
			got, answered, read := servertest.Send(w.t, http.DefaultClient,
				servertest.Request(w.t, method, w.url+scim.Path+path, body, "Authorization: Bearer "+w.key, header))
			if got != status {
				w.t.Fatalf("%s %s, %s: got %d, want %d\n%s", method, path, header, got, status, read)
			}
			return answered
		}
		rename := ops(object{"op": "replace", "path": "displayName", "value": "Another"})
		join := ops(object{"op": "add", "path": "members", "value": value("user:ann")})
		for path, change := range map[string]any{"Users/user:mia": rename, "Groups/team:pay": join} {
			old := send("GET", path, nil, 200, "X: x").Get("ETag")
			servertest.Like(w.t, w.ask("GET", path, nil, 200)["meta"], object{"version": old})
			servertest.Same(w.t, send("GET", path, nil, 304, "If-None-Match: W/"+old).Get("ETag"), old)
			now := send("PATCH", path, change, 200, "If-Match: "+old).Get("ETag")
			if now == old || old == "" {
				w.t.Errorf("%s: the version is still %q", path, now)
			}
			for _, method := range []string{"PATCH", "PUT", "DELETE"} {
				send(method, path, rename, 412, "If-Match: "+old)
			}
			send("GET", path, nil, 200, "If-None-Match: "+old)
			send("DELETE", path, nil, 204, "If-Match: W/"+now)
		}
	})
}

func TestAProviderLearnsWhatThereIs(t *testing.T) {
	each(t, func(w *world) {
		servertest.Like(w.t, w.ask("GET", "ServiceProviderConfig", nil, 200), object{"patch": object{"supported": true}})
		for _, list := range []string{"ResourceTypes", "Schemas"} {
			servertest.Same(w.t, len(w.ask("GET", list, nil, 200)["Resources"].([]any)), 2)
		}
		for _, name := range []string{"a", "b", "c"} {
			w.ask("POST", "Users", object{"userName": name}, 201)
		}
		servertest.Like(w.t, w.ask("GET", "Users?startIndex=2&count=1", nil, 200), object{
			"totalResults": 3.0, "startIndex": 2.0, "itemsPerPage": 1.0, "Resources": []any{object{"userName": "b"}},
		})
		servertest.Like(w.t, w.ask("GET", "Users?count=0", nil, 200), object{"totalResults": 3.0, "itemsPerPage": 0.0})
		w.ask("POST", "Groups", object{"displayName": "支付"}, 201)
		servertest.Same(w.t, len(w.found("Groups", `displayName eq "支付"`)), 1)
	})
}
