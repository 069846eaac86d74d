package operate_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestPoliciesSayUntilWhenAnItemIsVerified(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin, mia := w.Company()
		w.Ask("PUT", "/v1/directory/user:mia/groups/team:pay", nil, admin).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge", Object{
			"id": "window", "type": "plan", "content": "Deploy on Tuesdays.", "owner": "user:olga", "scopes": []string{"team:pay"},
		}, admin).Want(http.StatusCreated)
		shown := func() Object {
			v, _ := w.Ask("GET", "/v1/knowledge/window", nil, mia).Want(http.StatusOK).JSON()["verified"].(Object)
			return v
		}
		if v := shown(); v != nil {
			t.Errorf("without a policy: %v", v)
		}
		w.Ask("PUT", "/v1/verification/team:pay", Object{"every_days": 90}, mia).Want(http.StatusForbidden)
		refused := w.Ask("PUT", "/v1/verification/org:acme?type=plan", Object{"every_days": 90, "verifier": "user:olga"}, admin).
			Want(http.StatusUnprocessableEntity).JSON()
		Like(t, refused["errors"], []any{Object{"field": "verifier", "message": "user:olga cannot read org:acme: name it, or a member of it"}})
		set := w.Ask("PUT", "/v1/verification/team:pay", Object{"every_days": 90, "verifier": "user:mia"}, admin).Want(http.StatusOK)
		Like(t, set.JSON()["items"], []any{Object{"scope": "team:pay", "every_days": 90.0, "verifier": "user:mia"}})
		Like(t, shown(), Object{"until": Beginning(time.Now().UTC().AddDate(0, 0, 90).Format(time.DateOnly))})

		w.Ahead(91 * 24 * time.Hour)
		Like(t, shown(), Object{"overdue": true})
		w.Ahead(0)
		w.Ask("POST", "/v1/knowledge/window/confirm", nil, mia).Want(http.StatusOK) // as the verifier
		Like(t, shown(), Object{"by": "user:mia", "at": Some{}})
		hits := w.Ask("POST", "/v1/search", Object{"query": "when do we deploy?"}, mia).Want(http.StatusOK).JSON()
		Like(t, hits["items"], []any{Object{"knowledge": Object{"verified": Object{"by": "user:mia"}}}})
		Like(t, w.Ask("GET", "/v1/knowledge", nil, mia).Want(http.StatusOK).JSON()["items"], []any{
			Object{"verified": Object{"by": "user:mia"}},
		})
		w.Ask("DELETE", "/v1/verification/team:pay", nil, admin).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/verification/team:pay", nil, admin).Want(http.StatusNotFound)
		Like(t, w.Ask("GET", "/v1/verification", nil, mia).Want(http.StatusOK).JSON(), Object{"items": []any{}})
	})
}

func TestOverdueItemsWeighLess(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("window", "The deploy window is Tuesday.")
		weight := func() (float64, Object) {
			hit := w.Ask("POST", "/v1/search", Object{"query": "deploy window"}).Want(http.StatusOK).Items()[0]
			n, _ := hit["weight"].(float64)
			return n, hit
		}
		before, _ := weight()
		w.Expire("window")
		after, hit := weight()
		Like(t, hit, Object{"parts": Object{"overdue": true}, "knowledge": Object{"verified": Object{"overdue": true}}})
		if ratio := after / before; ratio < 0.899 || ratio > 0.901 {
			t.Errorf("its weight is multiplied by %v, want 0.9", ratio)
		}
	})
}

func TestRacingChangesOfAPolicyAreRecordedOneByOne(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const shared = "/v1/verification/team:pay"
		var mu sync.Mutex
		recorded := 0
		got := Race(func(client int) (all []*Answer) {
			scope := fmt.Sprint("team:own-", client)
			for every := 1; every <= 5; every++ {
				own := w.Ask("PUT", "/v1/verification/"+scope, Object{"every_days": every}).Want(http.StatusOK)
				if !slices.ContainsFunc(own.Items(), func(p Object) bool {
					return p["scope"] == scope && p["every_days"] == float64(every)
				}) {
					t.Errorf("the answer that sets %s to %d days: %s", scope, every, own.Body)
				}
				method := []string{"PUT", "DELETE"}[(client+every)%2]
				a := w.Ask(method, shared, Object{"every_days": every})
				if a.Header.Get("Annals-Outcome") == "recorded" {
					mu.Lock()
					recorded++
					mu.Unlock()
				}
				all = append(all, a)
			}
			return all
		})
		Only(t, got, http.StatusOK, http.StatusNotFound)
		changes := slices.DeleteFunc(w.Logged(domain.VerificationStream), func(e Object) bool { return Pick(e, "data", "scope") != "team:pay" })
		Same(t, len(changes), recorded, "events of the shared policy")
		last := changes[len(changes)-1]
		var shown Object
		for _, p := range w.Ask("GET", "/v1/verification", nil).Want(http.StatusOK).Items() {
			if p["scope"] == "team:pay" {
				shown = p
			}
		}
		Same(t, shown["every_days"], Pick(last, "data", "every_days"), "the policy, and its last event:", last["name"])
	})
}
