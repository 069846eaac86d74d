package http_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/egress"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/keys"
	"github.com/annals-kb/annals/projections/subscriptions"
)

func TestASubscriberHasAtMostAHundredSubscriptions(t *testing.T) {
	eachSubscribed(t, func(t *testing.T, w *world) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		mia, ben := bearer(w.given(admin, object{"subject": "user:mia"})), bearer(w.given(admin, object{"subject": "user:ben"}))
		follow := object{"scope": "public"}
		got := race(func(client int) (all []*answer) {
			for i := range 8 {
				all = append(all, w.ask("POST", "/v1/subscriptions", follow, mia, header(fmt.Sprintf("Idempotency-Key: %d-%d", client, i))))
			}
			return all
		})
		same(t, got, map[int]int{http.StatusCreated: domain.MostSubscriptions, http.StatusConflict: 160 - domain.MostSubscriptions})
		list := w.ask("GET", "/v1/subscriptions", nil, mia).want(http.StatusOK).items()
		same(t, len(list), domain.MostSubscriptions)
		w.ask("POST", "/v1/subscriptions", follow, ben).want(http.StatusCreated)
		w.ask("DELETE", "/v1/subscriptions/"+list[0]["id"].(string), nil, mia).want(http.StatusOK)
		for range 2 { // the second is a repetition of the request
			w.ask("POST", "/v1/subscriptions", follow, mia, "Idempotency-Key: again").want(http.StatusCreated)
		}
		w.ask("POST", "/v1/subscriptions", follow, mia).want(http.StatusConflict)
		crew := bearer(w.given(admin, object{"subject": "agent:crew", "acts_for": true}))
		got = race(func(client int) (all []*answer) {
			for range 6 {
				all = append(all, w.ask("POST", "/v1/subscriptions", follow, crew, header(fmt.Sprint("Annals-On-Behalf-Of: user:u", client))))
			}
			return all
		})
		same(t, got, map[int]int{http.StatusCreated: domain.MostSubscriptions, http.StatusConflict: 120 - domain.MostSubscriptions})
	})
}

func TestAFeedHidesWhatItsSubscriberMayNotReadAndEndsWithTheirKey(t *testing.T) {
	eachSubscribed(t, func(t *testing.T, w *world) {
		root := w.given("", object{"subject": "user:olga", "role": "admin"})
		key := w.ask("POST", "/v1/keys", object{"subject": "user:mia"}, bearer(root)).want(http.StatusCreated).json()
		olga, mia := bearer(root), bearer(key["key"].(string))
		remember := func(id string, scopes ...string) {
			w.ask("POST", "/v1/knowledge", object{
				"id": id, "type": "plan", "content": "About " + id, "owner": "user:olga", "scopes": scopes, "tags": object{"service": "pay"},
			}, olga).want(http.StatusCreated)
		}
		remember("before", "public")
		made := w.ask("POST", "/v1/subscriptions", object{"tag": "service=pay"}, mia).want(http.StatusCreated).json()
		feed := "/v1/subscriptions/" + made["id"].(string) + "/events"
		first := w.follow(feed, mia)
		remember("hers")
		remember("shared", "public")
		seen, e := first.next("")
		like(t, e, object{"stream": "knowledge:shared"})
		remember("also-hers")
		remember("also-shared", "public")
		w.ask("PATCH", "/v1/knowledge/hers", object{"scopes": []string{"public"}}, olga).want(http.StatusOK)
		for _, s := range []*stream{first, w.follow(feed, mia, header("Last-Event-ID: "+seen.id))} {
			_, e = s.next("")
			like(t, e, object{"stream": "knowledge:also-shared"})
			_, e = s.next("")
			like(t, e, object{"stream": "knowledge:hers", "name": "knowledge.rescoped"})
		}
		w.ask("GET", feed, nil, bearer(w.given(root, object{"subject": "user:ben"}))).want(http.StatusNotFound)

		w.ask("DELETE", "/v1/keys/"+key["prefix"].(string), nil, olga).want(http.StatusOK)
		_, why := first.next("closed")
		like(t, why, object{"status": 401.0})
		for range first.heard { // the server ends the stream
		}
	})
}

// eachSubscribed is eachKeyed, with a server that keeps subscriptions and whose streams look at the caller's key often.
func eachSubscribed(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		test(t, newWorld(t, db, events.Options{}, func(c *servertest.Config) {
			log := c.Writer.(*events.Log)
			c.Callers.Keys, c.Heartbeat = keys.NewKeys(db, log), 10*time.Millisecond
			c.Subscriptions = subscriptions.New(subscriptions.Options{
				DB: db, Log: log, Followers: c.Followers, Writer: log, Items: c.Browser,
				Check: func(address string) string { return egress.CheckURL(address, false) },
			})
		}))
	})
}
