package contain_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const containments = "/v1/containments"

// company is a server with the keys of an admin, an auditor, a maintainer and a member of team:pay, and an agent that
// writes to two teams.
func company(w *World) (admin, auditor, maintainer, member Header) {
	root := Bearer(RootKey)
	for path, body := range map[string]Object{
		"/team:pay": {}, "/team:web": {}, "/user:max": {}, "/user:mia": {},
	} {
		w.Ask("PUT", "/v1/directory"+path, body, root)
	}
	w.Ask("PUT", "/v1/directory/user:max/groups/team:pay", Object{"role": "maintainer"}, root)
	w.Ask("PUT", "/v1/directory/user:mia/groups/team:pay", Object{}, root)
	agent := w.GivenTo("agent:coder", RootKey, "team:pay", "team:web")
	for id, item := range map[string]Object{
		"a-pay":  {"content": "The payout account is ZZ99.", "scopes": []string{"team:pay"}},
		"b-web":  {"content": "The web account is ZZ99.", "scopes": []string{"team:web"}},
		"c-both": {"content": "Both accounts are ZZ99.", "scopes": []string{"team:pay", "team:web"}},
	} {
		item["id"], item["type"] = id, "strategy"
		w.Ask("POST", "/v1/knowledge", item, agent).Want(http.StatusCreated)
	}
	w.Ask("POST", "/v1/knowledge", Object{
		"id": "good", "type": "strategy", "content": "Retry with jitter.", "scopes": []string{"team:pay"}, "owner": "team:pay",
	}, root).Want(http.StatusCreated)
	w.Ask("POST", "/v1/knowledge/good/feedback", Object{"verdict": "harmful"}, agent).Want(http.StatusOK)
	key := func(key Object) Header { return Bearer(w.Given(RootKey, key)) }
	return key(Object{"subject": "user:olga", "role": "admin"}), key(Object{"subject": "user:otto", "role": "auditor"}),
		key(Object{"subject": "user:max"}), key(Object{"subject": "user:mia"})
}

func TestAContainmentIsShownAppliedReleasedAndUndone(t *testing.T) {
	EachWith(t, Rooted, func(t *testing.T, w *World) {
		admin, auditor, maintainer, member := company(w)
		source := Object{"actor": "agent:coder", "what_if": true}
		seen := w.Ask("POST", containments+"/preview", source, admin).Want(http.StatusOK).JSON()
		Like(t, seen, Object{
			"items": 3.0, "others": 0.0, "votes": 1.0, "why": Object{"written": 3.0}, "answers": nil,
			"what_if": Object{"active": 4.0, "without": 1.0},
		}, "what an admin sees")
		Like(t, w.Ask("POST", containments+"/preview", source, maintainer).Want(http.StatusOK).JSON(),
			Object{"items": 2.0, "others": 1.0, "votes": 1.0}, "what a maintainer sees")
		for _, who := range []Header{member, auditor} {
			w.Ask("POST", containments+"/preview", source, who).Want(http.StatusForbidden)
		}
		w.Ask("POST", containments+"/preview", Object{}, admin).Want(http.StatusUnprocessableEntity)
		w.Ask("POST", containments, source, admin).Want(http.StatusUnprocessableEntity)
		source["reason"], source["digest"] = "poisoned", "00"
		w.Ask("POST", containments, source, admin).Want(http.StatusConflict)
		w.Ask("GET", "/v1/knowledge/a-pay", nil, member).Want(http.StatusOK)

		source["digest"] = seen["digest"]
		done := w.Ask("POST", containments, source, admin).Want(http.StatusCreated).JSON()
		id := containments + "/" + done["id"].(string)
		for _, item := range []string{"a-pay", "c-both"} {
			w.Ask("GET", "/v1/knowledge/"+item, nil, member).Want(http.StatusNotFound)
			Like(t, w.Ask("GET", "/v1/knowledge/"+item, nil, maintainer).Want(http.StatusOK).JSON(), Object{
				"status": "quarantined", "quarantined": Object{"containment": done["id"], "reason": "poisoned"},
			}, item)
		}
		Like(t, w.Ask("GET", "/v1/knowledge/good", nil, member).JSON(), Object{"eval": Object{"harmful": 0.0}}, "the vote")
		Like(t, w.Ask("GET", id, nil, auditor).Want(http.StatusOK).JSON(), Object{"items": 3.0, "reason": "poisoned"}, "read")
		Same(t, len(w.Ask("GET", id, nil, maintainer).Want(http.StatusOK).JSON()["sample"].([]any)), 2)
		Same(t, len(w.Ask("GET", containments, nil, maintainer).Want(http.StatusOK).Items()), 1)
		w.Ask("GET", containments, nil, member).Want(http.StatusForbidden)
		w.Ask("GET", id, nil, member).Want(http.StatusNotFound)

		w.Ask("POST", id+"/release", Object{"items": []string{"b-web"}}, maintainer).Want(http.StatusNotFound)
		w.Ask("POST", id+"/release", Object{"items": []string{"a-pay"}, "reason": "checked"}, maintainer).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge/a-pay", nil, member).Want(http.StatusOK)
		w.Ask("POST", id+"/release", Object{"items": []string{"c-both", "good"}}, admin).Want(http.StatusConflict)
		w.Ask("GET", "/v1/knowledge/c-both", nil, member).Want(http.StatusNotFound)
		w.Ask("POST", id+"/undo", nil, maintainer).Want(http.StatusNotFound) // b-web is not the maintainer's
		w.Ask("POST", id+"/undo", Object{"reason": "all checked"}, admin).Want(http.StatusOK)
		w.Ask("POST", id+"/undo", nil, admin).Want(http.StatusConflict)
		w.Ask("GET", "/v1/knowledge/c-both", nil, member).Want(http.StatusOK)
		Like(t, w.Ask("GET", "/v1/knowledge/good", nil, member).JSON(), Object{"eval": Object{"harmful": 1.0}}, "the vote")
		w.Ask("POST", containments, Object{"items": []string{"none"}, "reason": "x"}, admin).Want(http.StatusNotFound)
		w.Ask("GET", containments+"/none", nil, admin).Want(http.StatusNotFound)
	})
}

func TestOfManyContainmentsOfTheSameOneWins(t *testing.T) {
	EachWith(t, Rooted, func(t *testing.T, w *World) {
		admin, _, _, _ := company(w)
		got := Race(func(int) []*Answer {
			return []*Answer{w.Ask("POST", containments, Object{"actor": "agent:coder", "reason": "poisoned"}, admin)}
		})
		Same(t, got[http.StatusCreated], 1)
		Same(t, got[http.StatusConflict], 19)
		Same(t, len(w.Ask("GET", containments, nil, admin).Items()), 1)
		Same(t, len(w.Ask("GET", "/v1/knowledge?status=quarantined", nil, admin).Items()), 3)
	})
}
