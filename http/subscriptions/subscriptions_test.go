package subscriptions_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/egress"
	. "github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/subscriptions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASubscriberHasAtMostAHundredSubscriptions(t *testing.T) {
	EachWith(t, subscribed, func(t *testing.T, w *World) {
		admin := w.Admin()
		mia, ben := w.GivenTo("user:mia", admin), w.GivenTo("user:ben", admin)
		follow := Object{"scope": "public"}
		got := Race(func(client int) (all []*Answer) {
			for i := range 8 {
				all = append(all, w.Ask("POST", "/v1/subscriptions", follow, mia, Header(fmt.Sprintf("Idempotency-Key: %d-%d", client, i))))
			}
			return all
		})
		Same(t, got, map[int]int{http.StatusCreated: domain.MostSubscriptions, http.StatusConflict: 160 - domain.MostSubscriptions})
		list := w.Ask("GET", "/v1/subscriptions", nil, mia).Want(http.StatusOK).Items()
		Same(t, len(list), domain.MostSubscriptions)
		w.Ask("POST", "/v1/subscriptions", follow, ben).Want(http.StatusCreated)
		w.Ask("DELETE", "/v1/subscriptions/"+list[0]["id"].(string), nil, mia).Want(http.StatusOK)
		for range 2 { // the second is a repetition of the request
			w.Ask("POST", "/v1/subscriptions", follow, mia, "Idempotency-Key: again").Want(http.StatusCreated)
		}
		w.Ask("POST", "/v1/subscriptions", follow, mia).Want(http.StatusConflict)
		crew := Bearer(w.Given(admin, Object{"subject": "agent:crew", "acts_for": true}))
		got = Race(func(client int) (all []*Answer) {
			for range 6 {
				all = append(all, w.Ask("POST", "/v1/subscriptions", follow, crew, Header(fmt.Sprint("Annals-On-Behalf-Of: user:u", client))))
			}
			return all
		})
		Same(t, got, map[int]int{http.StatusCreated: domain.MostSubscriptions, http.StatusConflict: 120 - domain.MostSubscriptions})
	})
}

func TestAFeedHidesWhatItsSubscriberMayNotReadAndEndsWithTheirKey(t *testing.T) {
	EachWith(t, subscribed, func(t *testing.T, w *World) {
		root := w.Admin()
		key := w.Ask("POST", "/v1/keys", Object{"subject": "user:mia"}, Bearer(root)).Want(http.StatusCreated).JSON()
		olga, mia := Bearer(root), Bearer(key["key"].(string))
		remember := func(id string, scopes ...string) {
			w.Ask("POST", "/v1/knowledge", Object{
				"id": id, "type": "plan", "content": "About " + id, "owner": "user:olga", "scopes": scopes, "tags": Object{"service": "pay"},
			}, olga).Want(http.StatusCreated)
		}
		remember("before", "public")
		made := w.Ask("POST", "/v1/subscriptions", Object{"tag": "service=pay"}, mia).Want(http.StatusCreated).JSON()
		feed := "/v1/subscriptions/" + made["id"].(string) + "/events"
		first := w.Listen(feed, mia)
		remember("hers")
		remember("shared", "public")
		seen, e := first.Next("")
		Like(t, e, Object{"stream": "knowledge:shared"})
		remember("also-hers")
		remember("also-shared", "public")
		w.Ask("PATCH", "/v1/knowledge/hers", Object{"scopes": []string{"public"}}, olga).Want(http.StatusOK)
		for _, s := range []*Stream{first, w.Listen(feed, mia, Header("Last-Event-ID: "+seen.ID))} {
			_, e = s.Next("")
			Like(t, e, Object{"stream": "knowledge:also-shared"})
			_, e = s.Next("")
			Like(t, e, Object{"stream": "knowledge:hers", "name": "knowledge.rescoped"})
		}
		w.Ask("GET", feed, nil, w.GivenTo("user:ben", root)).Want(http.StatusNotFound)

		w.Ask("DELETE", "/v1/keys/"+key["prefix"].(string), nil, olga).Want(http.StatusOK)
		_, why := first.Next("closed")
		Like(t, why, Object{"status": 401.0})
		for range first.Heard { // the server ends the stream
		}
	})
}

// subscribed lets a server keep subscriptions, and its streams look at the caller's key often.
func subscribed(w *World, cfg *Config) {
	Keyed(w, cfg)
	cfg.Heartbeat = 10 * time.Millisecond
	cfg.Subscriptions = subscriptions.New(subscriptions.Options{
		DB: w.DB, Log: w.Log, Followers: w.Followers, Writer: w.Log, Items: cfg.Browser,
		Check: func(address string) string { return egress.CheckURL(address, false) },
	})
}
