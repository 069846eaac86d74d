package http_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/projections"
)

func TestWhatMayBeRedactedAndPurgedIsAsDocumented(t *testing.T) {
	areDecided(t, "What may be redacted and purged", redactActions)
}

var redactActions = map[string]func(*world, caller) *answer{
	"findings": func(w *world, who caller) *answer { return w.ask("GET", "/v1/scrubbing/findings", nil, who.headers...) },
	"redact": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/scrubbing/redactions", nil, who.headers...)
	},
	"rules": func(w *world, who caller) *answer { return w.ask("GET", "/v1/scrubbing", nil, who.headers...) },
	"change rules": func(w *world, who caller) *answer {
		return w.ask("PUT", "/v1/scrubbing", object{"off": []string{"phone"}}, who.headers...)
	},
	"all of its own": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/erasures", object{"of": who.self}, who.headers...)
	},
	"all of another's": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/erasures", object{"of": stranger}, who.headers...)
	},
	"the tenant": func(w *world, who caller) *answer {
		return w.ask("POST", "/v1/erasures", object{"of": "tenant:default"}, who.headers...)
	},
	"status": func(w *world, who caller) *answer { return w.ask("GET", "/v1/erasures", nil, who.headers...) },
	"purge":  func(w *world, who caller) *answer { return w.ask("POST", "/v1/erasures/purge", nil, who.headers...) },
}

// Whoever ordered an erasure reads how far it is; nobody else learns that there is one.
func TestAnErasureIsForWhoeverOrderedIt(t *testing.T) {
	eachPeopled(t, func(_ *testing.T, w *world, people map[string]caller) {
		mia := people["member"]
		w.ask("POST", "/v1/knowledge", object{"id": "hers", "type": "strategy", "content": "x", "owner": mia.self, "scopes": []string{mia.self}}, mia.headers...).want(http.StatusCreated)
		order := w.ask("POST", "/v1/erasures", object{"of": "hers", "with_lineage": true}, mia.headers...).want(http.StatusAccepted)
		where := order.header.Get("Location")
		w.ask("GET", where, nil, mia.headers...).want(http.StatusOK)
		w.ask("GET", where, nil, people["service"].headers...).want(http.StatusNotFound)
	})
}

// Whether the files hold what was erased in other tenants is for whoever operates the server.
func TestWhatIsUnpurgedIsCountedForTheTenant(t *testing.T) {
	eachPeopled(t, func(t *testing.T, w *world, people map[string]caller) {
		const other = header("Annals-Tenant: other")
		w.ask("POST", "/v1/tenants", object{"name": "other"}, bearer(rootKey)).want(http.StatusCreated)
		neighbour := bearer(w.ask("POST", "/v1/keys", object{"subject": "user:zoe", "role": "admin"}, bearer(rootKey), other).want(http.StatusCreated).json()["key"].(string))
		unpurged := func(headers ...header) (texts float64, since any) {
			t.Helper()
			got := w.ask("GET", "/v1/erasures", nil, headers...).want(http.StatusOK).json()
			return got["unpurged"].(float64), got["oldest"]
		}
		w.ask("POST", "/v1/knowledge", item("theirs", "x"), neighbour).want(http.StatusCreated)
		w.ask("DELETE", "/v1/knowledge/theirs?erase=true&reason_code=gdpr-17", nil, neighbour).want(http.StatusNoContent)
		for who, want := range map[string]float64{"admin": 0, "auditor": 0, "root": 1} {
			if got, since := unpurged(people[who].headers...); got != want || (since != nil) != (want > 0) {
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
	eachPeopled(t, func(t *testing.T, w *world, people map[string]caller) {
		mia, admin := people["member"], people["admin"]
		w.ask("POST", "/v1/knowledge", object{"id": "hers", "type": "strategy", "content": "x", "owner": mia.self, "scopes": []string{mia.self}}, mia.headers...).want(http.StatusCreated)
		for id, scope := range map[string]string{"hidden": stranger, "shown": "public"} {
			w.ask("POST", "/v1/knowledge", object{"id": id, "type": "strategy", "content": "y", "owner": stranger, "scopes": []string{scope}}, admin.headers...).want(http.StatusCreated)
		}
		w.ask("POST", "/v1/knowledge/hidden/supersede", object{"by": "hers"}, admin.headers...).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/hers/supersede", object{"by": "shown"}, admin.headers...).want(http.StatusOK)
		plan := w.ask("GET", "/v1/erasures/plan?of=hers&with_lineage=true", nil, mia.headers...).want(http.StatusOK)
		items, _ := plan.json()["items"].([]any)
		like(t, items, []any{object{"goes": true}, object{
			"goes": false, "reason": "shown may be erased by " + stranger + " in person, or by an admin",
		}})
		order := w.ask("POST", "/v1/erasures", object{"of": "hers", "with_lineage": true}, mia.headers...).want(http.StatusAccepted)
		knowledge, err := projections.Open(t.Context(), w.db, projections.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if err := projections.NewEraser(knowledge, w.log, databasetest.Log(t)).CarryOut(t.Context()); err != nil {
			t.Fatal(err)
		}
		for who, want := range map[string]float64{"member": 1, "admin": 2} {
			seen := w.ask("GET", order.header.Get("Location"), nil, people[who].headers...).want(http.StatusOK)
			like(t, seen.json(), object{"erased": 1.0, "not_erased": want}, who)
			same(t, strings.Contains(string(seen.body), "hidden"), who == "admin", who)
		}
		refused := w.ask("GET", "/v1/erasures/plan?of=shown&with_lineage=true", nil, mia.headers...).want(http.StatusOK)
		like(t, string(refused.body), lacking(`"goes":true`), "the plan of what she may not order")
	})
}
