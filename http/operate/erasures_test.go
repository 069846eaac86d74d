package operate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	. "github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections"
)

// Whoever ordered an erasure reads how far it is; nobody else learns that there is one.
func TestAnErasureIsForWhoeverOrderedIt(t *testing.T) {
	EachPeopled(t, func(_ *testing.T, w *World, people map[string]Caller) {
		mia := people["member"]
		w.Ask("POST", "/v1/knowledge", Object{"id": "hers", "type": "strategy", "content": "x", "owner": mia.Self, "scopes": []string{mia.Self}}, mia.Headers...).Want(http.StatusCreated)
		order := w.Ask("POST", "/v1/erasures", Object{"of": "hers", "with_lineage": true}, mia.Headers...).Want(http.StatusAccepted)
		where := order.Header.Get("Location")
		w.Ask("GET", where, nil, mia.Headers...).Want(http.StatusOK)
		w.Ask("GET", where, nil, people["service"].Headers...).Want(http.StatusNotFound)
	})
}

// Whether the files hold what was erased in other tenants is for whoever operates the server.
func TestWhatIsUnpurgedIsCountedForTheTenant(t *testing.T) {
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		const other = Header("Annals-Tenant: other")
		w.Ask("POST", "/v1/tenants", Object{"name": "other"}, Bearer(RootKey)).Want(http.StatusCreated)
		neighbour := Bearer(w.Ask("POST", "/v1/keys", Object{"subject": "user:zoe", "role": "admin"}, Bearer(RootKey), other).Want(http.StatusCreated).JSON()["key"].(string))
		unpurged := func(headers ...Header) (texts float64, since any) {
			t.Helper()
			got := w.Ask("GET", "/v1/erasures", nil, headers...).Want(http.StatusOK).JSON()
			return got["unpurged"].(float64), got["oldest"]
		}
		w.Ask("POST", "/v1/knowledge", Item("theirs", "x"), neighbour).Want(http.StatusCreated)
		w.Ask("DELETE", "/v1/knowledge/theirs?erase=true&reason_code=gdpr-17", nil, neighbour).Want(http.StatusNoContent)
		for who, want := range map[string]float64{"admin": 0, "auditor": 0, "root": 1} {
			if got, since := unpurged(people[who].Headers...); got != want || (since != nil) != (want > 0) {
				t.Errorf("%s: %v texts since %v, want %v", who, got, since, want)
			}
		}
		if got, since := unpurged(neighbour); got != 1 || since == nil {
			t.Errorf("the neighbour's admin: %v texts since %v", got, since)
		}
	})
}

// What is hidden from whoever orders stays, and he learns nothing of it: neither by the plan, nor by what was refused.
func TestAnOrderTellsNothingOfWhatIsHidden(t *testing.T) {
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		mia, admin := people["member"], people["admin"]
		w.Ask("POST", "/v1/knowledge", Object{"id": "hers", "type": "strategy", "content": "x", "owner": mia.Self, "scopes": []string{mia.Self}}, mia.Headers...).Want(http.StatusCreated)
		for id, scope := range map[string]string{"hidden": Stranger, "shown": "public"} {
			w.Ask("POST", "/v1/knowledge", Object{"id": id, "type": "strategy", "content": "y", "owner": Stranger, "scopes": []string{scope}}, admin.Headers...).Want(http.StatusCreated)
		}
		w.Ask("POST", "/v1/knowledge/hidden/supersede", Object{"by": "hers"}, admin.Headers...).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/hers/supersede", Object{"by": "shown"}, admin.Headers...).Want(http.StatusOK)
		plan := w.Ask("GET", "/v1/erasures/plan?of=hers&with_lineage=true", nil, mia.Headers...).Want(http.StatusOK)
		items, _ := plan.JSON()["items"].([]any)
		Like(t, items, []any{Object{"goes": true}, Object{
			"goes": false, "reason": "shown may be erased by " + Stranger + " in person, or by an admin",
		}})
		order := w.Ask("POST", "/v1/erasures", Object{"of": "hers", "with_lineage": true}, mia.Headers...).Want(http.StatusAccepted)
		knowledge, err := projections.Open(t.Context(), w.DB, projections.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if err := projections.NewEraser(knowledge, w.Log, databasetest.Log(t)).CarryOut(t.Context()); err != nil {
			t.Fatal(err)
		}
		for who, want := range map[string]float64{"member": 1, "admin": 2} {
			seen := w.Ask("GET", order.Header.Get("Location"), nil, people[who].Headers...).Want(http.StatusOK)
			Like(t, seen.JSON(), Object{"erased": 1.0, "not_erased": want}, who)
			Same(t, strings.Contains(string(seen.Body), "hidden"), who == "admin", who)
		}
		refused := w.Ask("GET", "/v1/erasures/plan?of=shown&with_lineage=true", nil, mia.Headers...).Want(http.StatusOK)
		Like(t, string(refused.Body), Lacking(`"goes":true`), "the plan of what she may not order")
	})
}
