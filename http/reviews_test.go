package http_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// waits are the ids of a page of reviews with the queues of each.
func waits(a *answer) (list []string) {
	for _, review := range a.want(http.StatusOK).items() {
		var queues []string
		reasons, _ := review["reasons"].([]any)
		for _, reason := range reasons {
			queues = append(queues, fmt.Sprint(pick(reason.(object), "queue")))
		}
		slices.Sort(queues)
		list = append(list, fmt.Sprint(pick(review, "item", "id"), ": ", strings.Join(queues, " ")))
	}
	return list
}

func (w *world) voted(id, verdict string, voters ...string) {
	w.t.Helper()
	for _, voter := range voters {
		w.ask("POST", "/v1/knowledge/"+id+"/feedback", object{"verdict": verdict}, header("Annals-Actor: user:"+voter)).want(http.StatusOK)
	}
}

// used records that an item was given to somebody.
func (w *world) used(id, kind string, times int) {
	w.t.Helper()
	recorder := events.NewAccesses(w.log, events.AccessOptions{Logger: databasetest.Log(w.t)})
	for range times {
		recorder.Record(domain.Access{
			Tenant: domain.DefaultTenant, At: time.Now(), Kind: kind, Status: http.StatusOK, Actor: "user:ann",
			Items: []domain.Retrieved{{ID: id}},
		})
	}
	ended, end := context.WithCancel(database.ForTenant(w.t.Context(), domain.DefaultTenant))
	end()
	recorder.Run(ended)
}

func TestWhatWaitsForAReviewIsInItsQueuesWithReasons(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, id := range []string{"fine", "stale", "expired", "divided", "contested", "disliked", "old", "unused", "new"} {
			w.remember(id, "about "+id)
		}
		w.ask("POST", "/v1/knowledge/stale/stale", object{"reason": "it moved"}, "Annals-Actor: user:ann").want(http.StatusOK)
		soon := time.Now().Add(300 * time.Millisecond)
		w.ask("POST", "/v1/knowledge/expired/confirm", object{"until": soon.UTC().Format(time.RFC3339Nano)}).want(http.StatusOK)
		w.voted("divided", "harmful", "ann", "ben")
		w.voted("divided", "helpful", "cid", "dan")
		w.voted("contested", "harmful", "ann", "ben", "cid")
		w.voted("disliked", "harmful", "ann")
		for _, id := range []string{"old", "unused"} {
			w.ask("POST", "/v1/knowledge/"+id+"/supersede", object{"by": "new", "reason": "newer"}).want(http.StatusOK)
		}
		w.used("old", "search", 3)
		w.used("unused", "review", 3)
		w.used("disliked", "get", 2)
		time.Sleep(time.Until(soon.Add(10 * time.Millisecond)))

		got := w.ask("GET", "/v1/reviews", nil)
		same(t, waits(got), []string{
			"old: superseded_used", "disliked: low_confidence", "contested: contested low_confidence", "stale: stale",
			"divided: divided", "expired: expired",
		})
		like(t, got.json(), object{"total": 6.0, "queues": object{
			"stale": object{"items": 1.0}, "expired": object{"items": 1.0}, "contested": object{"items": 1.0},
			"divided": object{"items": 1.0}, "low_confidence": object{"items": 2.0}, "superseded_used": object{"items": 1.0},
		}})
		like(t, got.items()[0], object{
			"used": object{"count": 3.0}, "reasons": []any{object{"text": "new"}}, "item": object{"content": "about old"},
		})
		like(t, got.items()[3], object{"reasons": []any{object{"count": 1.0, "text": "it moved"}}})
		same(t, waits(w.ask("GET", "/v1/reviews?queue=stale", nil)), []string{"stale: stale"})
		same(t, len(waits(w.ask("GET", "/v1/reviews?owner=user:nobody", nil))), 0)
		w.ask("GET", "/v1/reviews?mine=true&owner=user:ann", nil).want(http.StatusUnprocessableEntity)
		w.ask("GET", "/v1/reviews?mine=true&assigned=user:ann", nil).want(http.StatusUnprocessableEntity)
		same(t, len(waits(w.ask("GET", "/v1/reviews?mine=true", nil))), 6)
		same(t, len(waits(w.ask("GET", "/v1/reviews?mine=true", nil, "Annals-Actor: user:ann"))), 0)

		for _, id := range []string{"stale", "expired", "divided", "contested", "disliked"} {
			w.ask("POST", "/v1/knowledge/"+id+"/confirm", object{}).want(http.StatusOK)
		}
		same(t, waits(w.ask("GET", "/v1/reviews", nil)), []string{"old: superseded_used"}, "after the confirmations")
		w.voted("divided", "harmful", "eva")
		same(t, waits(w.ask("GET", "/v1/reviews?queue=divided", nil)), []string{"divided: divided"}, "after another vote")
	})
}

func TestReviewsArePagesInATotalOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var want, got []string
		for i := range 7 {
			id := fmt.Sprint("a", i)
			w.remember(id, "content "+id)
			w.ask("POST", "/v1/knowledge/"+id+"/stale", object{}).want(http.StatusOK)
			want = append(want, id+": stale")
		}
		next := ""
		for range 4 {
			page := w.ask("GET", "/v1/reviews?limit=2"+next, nil)
			got = append(got, waits(page)...)
			cursor, _ := page.json()["next_cursor"].(string)
			next = "&cursor=" + url.QueryEscape(cursor)
		}
		same(t, got, want)
		w.ask("GET", "/v1/reviews?queue=stale"+next, nil).want(http.StatusUnprocessableEntity)
	})
}

func TestNobodyReviewsWhatTheyMayNotSee(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		mia := bearer(w.given(admin, object{"subject": "user:mia", "memberships": []string{"team:pay"}}))
		ned := bearer(w.given(admin, object{"subject": "user:ned"}))
		auditor := bearer(w.given(admin, object{"subject": "user:otto", "role": "auditor"}))
		for id, scope := range map[string]string{"hers": "user:mia", "theirs": "team:pay"} {
			w.ask("POST", "/v1/knowledge", object{"id": id, "type": "tool", "content": id, "scopes": []string{scope}}, mia).
				want(http.StatusCreated)
			w.ask("POST", "/v1/knowledge/"+id+"/stale", object{}, mia).want(http.StatusOK)
		}
		same(t, len(waits(w.ask("GET", "/v1/reviews", nil, mia))), 2)
		same(t, waits(w.ask("GET", "/v1/reviews?scope=team:pay", nil, mia)), []string{"theirs: stale"})
		same(t, len(waits(w.ask("GET", "/v1/reviews", nil, auditor))), 2)
		none := w.ask("GET", "/v1/reviews", nil, ned)
		same(t, len(waits(none)), 0)
		like(t, none.json(), object{"total": 0.0, "queues": object{"stale": object{"items": 0.0}}})
	})
}
