package http_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

func TestPoliciesSayUntilWhenAnItemIsVerified(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, ahead *time.Duration) {
		admin, mia := w.company()
		w.ask("PUT", "/v1/directory/user:mia/groups/team:pay", nil, admin).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge", object{
			"id": "window", "type": "plan", "content": "Deploy on Tuesdays.", "owner": "user:olga", "scopes": []string{"team:pay"},
		}, admin).want(http.StatusCreated)
		shown := func() object {
			v, _ := w.ask("GET", "/v1/knowledge/window", nil, mia).want(http.StatusOK).json()["verified"].(object)
			return v
		}
		if v := shown(); v != nil {
			t.Errorf("without a policy: %v", v)
		}
		w.ask("PUT", "/v1/verification/team:pay", object{"every_days": 90}, mia).want(http.StatusForbidden)
		refused := w.ask("PUT", "/v1/verification/org:acme?type=plan", object{"every_days": 90, "verifier": "user:olga"}, admin).
			want(http.StatusUnprocessableEntity).json()
		like(t, refused["errors"], []any{object{"field": "verifier", "message": "user:olga cannot read org:acme: name it, or a member of it"}})
		set := w.ask("PUT", "/v1/verification/team:pay", object{"every_days": 90, "verifier": "user:mia"}, admin).want(http.StatusOK)
		like(t, set.json()["items"], []any{object{"scope": "team:pay", "every_days": 90.0, "verifier": "user:mia"}})
		like(t, shown(), object{"until": beginning(time.Now().UTC().AddDate(0, 0, 90).Format(time.DateOnly))})

		*ahead = 91 * 24 * time.Hour
		like(t, shown(), object{"overdue": true})
		*ahead = 0
		w.ask("POST", "/v1/knowledge/window/confirm", nil, mia).want(http.StatusOK) // as the verifier
		like(t, shown(), object{"by": "user:mia", "at": some{}})
		hits := w.ask("POST", "/v1/search", object{"query": "when do we deploy?"}, mia).want(http.StatusOK).json()
		like(t, hits["items"], []any{object{"knowledge": object{"verified": object{"by": "user:mia"}}}})
		like(t, w.ask("GET", "/v1/knowledge", nil, mia).want(http.StatusOK).json()["items"], []any{
			object{"verified": object{"by": "user:mia"}},
		})
		w.ask("DELETE", "/v1/verification/team:pay", nil, admin).want(http.StatusOK)
		w.ask("DELETE", "/v1/verification/team:pay", nil, admin).want(http.StatusNotFound)
		like(t, w.ask("GET", "/v1/verification", nil, mia).want(http.StatusOK).json(), object{"items": []any{}})
	})
}

func TestOverdueItemsWeighLess(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("window", "The deploy window is Tuesday.")
		weight := func() (float64, object) {
			hit := w.ask("POST", "/v1/search", object{"query": "deploy window"}).want(http.StatusOK).items()[0]
			n, _ := hit["weight"].(float64)
			return n, hit
		}
		before, _ := weight()
		soon := time.Now().Add(200 * time.Millisecond)
		w.ask("POST", "/v1/knowledge/window/confirm", object{"until": soon.UTC().Format(time.RFC3339Nano)}).want(http.StatusOK)
		time.Sleep(time.Until(soon.Add(10 * time.Millisecond)))
		after, hit := weight()
		like(t, hit, object{"parts": object{"overdue": true}, "knowledge": object{"verified": object{"overdue": true}}})
		if ratio := after / before; ratio < 0.899 || ratio > 0.901 {
			t.Errorf("its weight is multiplied by %v, want 0.9", ratio)
		}
	})
}

func TestRacingChangesOfAPolicyAreRecordedOneByOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const shared = "/v1/verification/team:pay"
		var mu sync.Mutex
		recorded := 0
		got := race(func(client int) (all []*answer) {
			scope := fmt.Sprint("team:own-", client)
			for every := 1; every <= 5; every++ {
				own := w.ask("PUT", "/v1/verification/"+scope, object{"every_days": every}).want(http.StatusOK)
				if !slices.ContainsFunc(own.items(), func(p object) bool {
					return p["scope"] == scope && p["every_days"] == float64(every)
				}) {
					t.Errorf("the answer that sets %s to %d days: %s", scope, every, own.body)
				}
				method := []string{"PUT", "DELETE"}[(client+every)%2]
				a := w.ask(method, shared, object{"every_days": every})
				if a.header.Get("Annals-Outcome") == "recorded" {
					mu.Lock()
					recorded++
					mu.Unlock()
				}
				all = append(all, a)
			}
			return all
		})
		only(t, got, http.StatusOK, http.StatusNotFound)
		changes := slices.DeleteFunc(w.logged(domain.VerificationStream), func(e object) bool { return pick(e, "data", "scope") != "team:pay" })
		same(t, len(changes), recorded, "events of the shared policy")
		last := changes[len(changes)-1]
		var shown object
		for _, p := range w.ask("GET", "/v1/verification", nil).want(http.StatusOK).items() {
			if p["scope"] == "team:pay" {
				shown = p
			}
		}
		same(t, shown["every_days"], pick(last, "data", "every_days"), "the policy, and its last event:", last["name"])
	})
}
