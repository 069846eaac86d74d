package reports_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// waits are the ids of a page of reviews with the queues of each.
func waits(a *Answer) []string { return waiting(a.Want(http.StatusOK).Items()) }

func waiting(reviews []Object) (list []string) {
	for _, review := range reviews {
		var queues []string
		reasons, _ := review["reasons"].([]any)
		for _, reason := range reasons {
			queues = append(queues, fmt.Sprint(Pick(reason.(Object), "queue")))
		}
		slices.Sort(queues)
		list = append(list, fmt.Sprint(Pick(review, "item", "id"), ": ", strings.Join(queues, " ")))
	}
	return list
}

func voted(w *World, id, verdict string, voters ...string) {
	w.T.Helper()
	for _, voter := range voters {
		w.Ask("POST", "/v1/knowledge/"+id+"/feedback", Object{"verdict": verdict}, Header("Annals-Actor: user:"+voter)).Want(http.StatusOK)
	}
}

// used records that an item was used.
func used(w *World, id string, times int) {
	w.T.Helper()
	_, err := w.DB.TransactOne(database.ForTenant(w.T.Context(), domain.DefaultTenant), `
		INSERT INTO item_uses (tenant, number, uses, used_at)
		SELECT tenant, number, ?, ?
		FROM knowledge
		WHERE id = ?`, times, database.At(time.Now()), id)
	if err != nil {
		w.T.Fatal(err)
	}
}

func TestWhatWaitsForAReviewIsInItsQueuesWithReasons(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for _, id := range []string{"fine", "stale", "expired", "divided", "contested", "disliked", "old", "unused", "new"} {
			w.Remember(id, "about "+id)
		}
		w.Ask("POST", "/v1/knowledge/stale/stale", Object{"reason": "it moved"}, "Annals-Actor: user:ann").Want(http.StatusOK)
		w.Expire("expired")
		voted(w, "divided", "harmful", "ann", "ben")
		voted(w, "divided", "helpful", "cid", "dan")
		voted(w, "contested", "harmful", "ann", "ben", "cid")
		voted(w, "disliked", "harmful", "ann")
		for _, id := range []string{"old", "unused"} {
			w.Ask("POST", "/v1/knowledge/"+id+"/supersede", Object{"by": "new", "reason": "newer"}).Want(http.StatusOK)
		}
		used(w, "old", 3)
		used(w, "disliked", 2)

		got := w.Ask("GET", "/v1/reviews", nil)
		Same(t, waits(got), []string{
			"old: superseded_used", "disliked: low_confidence", "contested: contested low_confidence", "stale: stale",
			"divided: divided", "expired: expired",
		})
		Like(t, got.JSON(), Object{"total": 6.0, "queues": Object{
			"stale": Object{"items": 1.0}, "expired": Object{"items": 1.0}, "contested": Object{"items": 1.0},
			"divided": Object{"items": 1.0}, "low_confidence": Object{"items": 2.0}, "superseded_used": Object{"items": 1.0},
		}})
		Like(t, got.JSON(), Object{
			"by_assignee": []any{Object{"of": "user:default", "items": 6.0}},
			"by_scope":    []any{Object{"of": "user:default", "items": 6.0}},
		})
		Like(t, got.Items()[0], Object{
			"used": Object{"count": 3.0}, "reasons": []any{Object{"text": "new"}}, "item": Object{"content": "about old"},
		})
		Like(t, got.Items()[3], Object{"reasons": []any{Object{"count": 1.0, "text": "it moved"}}})
		Same(t, waits(w.Ask("GET", "/v1/reviews?queue=stale", nil)), []string{"stale: stale"})
		Same(t, len(waits(w.Ask("GET", "/v1/reviews?owner=user:nobody", nil))), 0)
		w.Ask("GET", "/v1/reviews?mine=true&owner=user:ann", nil).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/reviews?mine=true&assigned=user:ann", nil).Want(http.StatusUnprocessableEntity)
		Same(t, len(waits(w.Ask("GET", "/v1/reviews?mine=true", nil))), 6)
		Same(t, len(waits(w.Ask("GET", "/v1/reviews?mine=true", nil, "Annals-Actor: user:ann"))), 0)

		for _, id := range []string{"stale", "expired", "divided", "contested", "disliked"} {
			w.Ask("POST", "/v1/knowledge/"+id+"/confirm", Object{}).Want(http.StatusOK)
		}
		Same(t, waits(w.Ask("GET", "/v1/reviews", nil)), []string{"old: superseded_used"}, "after the confirmations")
		voted(w, "divided", "harmful", "eva")
		Same(t, waits(w.Ask("GET", "/v1/reviews?queue=divided", nil)), []string{"divided: divided"}, "after another vote")
	})
}

func TestReviewsArePagesInATotalOrder(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		var want []string
		for i := range 7 {
			id := fmt.Sprint("a", i)
			w.Remember(id, "content "+id)
			w.Ask("POST", "/v1/knowledge/"+id+"/stale", Object{}).Want(http.StatusOK)
			want = append(want, id+": stale")
		}
		Same(t, waiting(w.Pages("/v1/reviews?limit=2")), want)
		next := w.Ask("GET", "/v1/reviews?limit=2", nil).JSON()["next_cursor"].(string)
		w.Ask("GET", "/v1/reviews?queue=stale&cursor="+url.QueryEscape(next), nil).Want(http.StatusUnprocessableEntity)
	})
}

func TestNobodyReviewsWhatTheyMayNotSee(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		mia := w.GivenTo("user:mia", admin, "team:pay")
		ned := w.GivenTo("user:ned", admin)
		auditor := Bearer(w.Given(admin, Object{"subject": "user:otto", "role": "auditor"}))
		for id, scope := range map[string]string{"hers": "user:mia", "theirs": "team:pay"} {
			w.Ask("POST", "/v1/knowledge", Object{"id": id, "type": "tool", "content": id, "scopes": []string{scope}}, mia).
				Want(http.StatusCreated)
			w.Ask("POST", "/v1/knowledge/"+id+"/stale", Object{}, mia).Want(http.StatusOK)
		}
		Same(t, len(waits(w.Ask("GET", "/v1/reviews", nil, mia))), 2)
		Same(t, waits(w.Ask("GET", "/v1/reviews?scope=team:pay", nil, mia)), []string{"theirs: stale"})
		Same(t, len(waits(w.Ask("GET", "/v1/reviews", nil, auditor))), 2)
		none := w.Ask("GET", "/v1/reviews", nil, ned)
		Same(t, len(waits(none)), 0)
		Like(t, none.JSON(), Object{"total": 0.0, "queues": Object{"stale": Object{"items": 0.0}}})
	})
}

func TestAProposalIsProposedAndClosedOnce(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "The window is Tuesday.")
		w.Remember("b", "The window is Wednesday.")
		ids := sync.Map{}
		got := Race(func(int) []*Answer {
			a := w.Ask("POST", "/v1/reviews/proposals", Object{"kind": "contradiction", "items": []string{"b", "a"}})
			ids.Store(a.Want(http.StatusOK).JSON()["id"], nil)
			return []*Answer{a}
		})
		Same(t, got, map[int]int{http.StatusOK: 20})
		id := ""
		ids.Range(func(one, _ any) bool { id += one.(string); return true })
		outcomes := [20]any{}
		got = Race(func(client int) []*Answer {
			if client == 0 {
				w.Ask("POST", "/v1/knowledge/a/merge", Object{"items": []string{"b"}}).Want(http.StatusOK)
				return nil
			}
			a := w.Ask("POST", "/v1/reviews/proposals/"+id+"/close", Object{"outcome": []string{"distinct", "dismissed"}[client%2]})
			if a.Status == http.StatusOK {
				outcomes[client] = a.JSON()["outcome"]
			}
			return []*Answer{a}
		})
		Only(t, got, http.StatusOK, http.StatusConflict)
		recorded := w.Logged("review:" + id)
		Same(t, len(recorded), 2, "events of", id)
		for client, outcome := range outcomes {
			if outcome != nil {
				Same(t, outcome, Pick(recorded[1], "data", "outcome"), "the outcome for client", client)
			}
		}
	})
}
