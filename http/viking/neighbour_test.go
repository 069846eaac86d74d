package viking_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/viking"
	"github.com/annals-kb/annals/projections/erasure"
	"github.com/annals-kb/annals/projections/keys"
)

// canary stands in everything that the neighbour may not learn.
const canary = "violet-canary"

// different is what differs between any two answers: numbers, times and ids.
var different = regexp.MustCompile(`[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}|task_\w+|\d+`)

// A tenant, or a user, tries every route with what belongs to another, under the same names, and gets the answers
// that it gets for what does not exist.
func TestNobodyLearnsOfAnotherByAnyRoute(t *testing.T) {
	routes := viking.New(viking.Config{Keys: &keys.Keys{}, Eraser: &erasure.Eraser{}}).Routes()
	waiting := regexp.MustCompile(`/system/wait|/openapi.json|/sessions|/tasks`) // or about no item
	routes = slices.DeleteFunc(routes, waiting.MatchString)
	if len(routes) < 20 {
		t.Fatalf("there are %d routes, where are the others?", len(routes))
	}
	each(t, keyed, func(_ *testing.T, w *world) {
		w.ask("POST", "/v1/tenants", object{"name": "other"}, as(rootKey)).want(http.StatusCreated)
		given := func(tenant, role string) header {
			return w.keyFor(object{"subject": "user:una", "role": role}, header("Annals-Tenant: "+tenant))
		}
		una := given("default", "member")
		w.remember(object{"id": "theirs", "category": "tools", "content": canary, "owner": "user:una", "scopes": []string{"user:una"}}, una)
		w.remember(object{"id": "theirs-too", "context_type": "resource", "content": canary, "owner": "user:una", "scopes": []string{"user:una"}}, una)
		w.ask("POST", sessionsPath, object{"session_id": "theirs"}, una).want(http.StatusOK)
		w.ask("POST", sessionsPath+"/theirs/messages", object{"role": "user", "content": canary}, una).want(http.StatusOK)

		ben := w.keyFor(object{"subject": "user:ben"})
		for _, neighbour := range []header{ben, given("other", "member"), given("other", "admin")} {
			for _, route := range routes {
				method, path, _ := strings.Cut(route, " ")
				for _, place := range []string{"viking://user/una/memories/tools/VALUE.md", "viking://user/una/resources/VALUE-too.md", "viking://session/una/VALUE", "viking://user/una"} {
					w.compare(method, path, place, neighbour)
				}
			}
		}
	})
}

// compare asks a route for something of another tenant, and for nothing.
func (w *world) compare(method, path, place string, by header) {
	w.t.Helper()
	var answers [2]string
	for i, value := range []string{"theirs", "nobody"} {
		at := strings.ReplaceAll(place, "VALUE", value)
		where := regexp.MustCompile(`\{[\w.]+\}`).ReplaceAllString(path, value)
		var body any
		if method != "GET" {
			body = object{
				"query": "violet canary", "pattern": "violet", "uri": at, "target_uri": at, "from_uri": at, "to_uri": at + "-moved", "from": at, "to": at + "-moved",
				"session_id": value, "role": "user", "content": "said", "messages": []object{{"role": "user", "content": "said"}}, "contexts": []string{at}, "score_threshold": 0, "wait": false,
			}
		}
		a := w.ask(method, fmt.Sprintf("%s?uri=%s&session_id=%s&pattern=violet&query=violet", where, at, value), body, by)
		if strings.Contains(string(a.body), canary) || a.status >= http.StatusInternalServerError {
			w.t.Errorf("%s %s about %s: %d\n%.2000s", method, path, at, a.status, a.body)
		}
		plain := strings.ReplaceAll(fmt.Sprint(a.status, " ", string(a.body)), value, "VALUE")
		answers[i] = different.ReplaceAllString(plain, "#")
	}
	if answers[0] != answers[1] {
		w.t.Errorf("%s %s about %s: got\n%.1500s\nand\n%.1500s", method, path, place, answers[0], answers[1])
	}
}
