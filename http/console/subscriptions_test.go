package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/egress"
	httpserve "github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/subscriptions"
)

// deliver lets a server deliver events to subscribers, and answer to them.
func deliver(t *testing.T, base servertest.Base, cfg *servertest.Config, server func() *annalshttp.Server) {
	t.Helper()
	all := subscriptions.New(subscriptions.Options{
		DB: base.DB, Log: base.Log, Followers: base.Followers, Writer: cfg.Writer, Items: base.Knowledge.Browser, Logger: databasetest.Log(t),
		Client: http.DefaultClient, Check: func(address string) string { return egress.CheckURL(address, true) },
		Show: func(e domain.Event) any { return httpserve.EventOf(e) },
		Rights: func(ctx context.Context, tenant string, s domain.Subscription) (domain.Principal, error) {
			return server().Callers.RightsOf(ctx, tenant, s)
		},
	})
	cfg.Subscriptions = all
	delivering, stop := context.WithCancel(database.ForEveryTenant(context.WithoutCancel(t.Context())))
	var running sync.WaitGroup
	running.Go(func() { all.Run(delivering) })
	t.Cleanup(func() { stop(); running.Wait() })
	servertest.Follow(t, all.Follow)
}

func TestAWebhookIsMadeTestedAndWatchedInTheBrowser(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		var status atomic.Int64
		status.Store(http.StatusOK)
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
		t.Cleanup(receiver.Close)
		root := w.login(rootKey)
		const path = "/console/subscriptions"
		status422, page := w.send(root, path, "follows", "scope", "what", "team pay", "events", "remembered\nnothing", "webhook", "ftp://x", "note", "mine")
		if status422 != http.StatusUnprocessableEntity {
			t.Fatalf("%d\n%s", status422, page)
		}
		containsAll(t, page, `value="team pay"`, `id="what-wrong"`, `id="webhook-wrong"`, `value="mine"`)
		created, page := w.send(root, path, "follows", "scope", "what", "team:pay", "webhook", receiver.URL, "note", "the wall")
		if created != http.StatusCreated {
			t.Fatalf("%d\n%s", created, page)
		}
		containsAll(t, page, "Copy the secret now", "whsec_", "the wall")
		var list api.Subscriptions
		if _, err := w.api.Do(t.Context(), client.Get("v1", "subscriptions"), &list); err != nil || len(list.Items) != 1 {
			t.Fatal(list, err)
		}
		one := path + "/" + url.PathEscape(list.Items[0].ID)
		_, page = w.send(root, one, "act", "test")
		containsAll(t, page, "The receiver accepted the ping")
		w.remember(client.Knowledge{ID: "window", Type: "plan", Content: "Tuesdays.", Owner: "team:pay", Scopes: []string{"team:pay"}})
		page = w.shows(root, one+"?state=delivered", `value="replay"`)
		for _, input := range named(t, page, "input", "") {
			if attribute(input, "name") == "event" {
				_, page = w.send(root, one, "act", "replay", "event", attribute(input, "value"))
			}
		}
		containsAll(t, page, "The deliveries are made again")
		_, page = w.send(root, one, "act", "pause")
		containsAll(t, page, "The subscription is paused")
		status.Store(http.StatusTeapot)
		_, page = w.send(root, one, "act", "test")
		containsAll(t, page, "The receiver did not accept the ping", "418")
		_, page = w.visit(root, one)
		containsAll(t, page, "signed with the old one, too", "cannot be resumed")
		_, page = w.send(root, one, "act", "rotate")
		containsAll(t, page, "whsec_")
		_, page = w.send(root, one, "act", "unsubscribe")
		containsAll(t, page, "The subscription has ended")
		_, page = w.visit(root, path+"?ended=true&all=true")
		containsAll(t, page, "team:pay", "ended")
		_, page = w.send(root, path, "follows", "item", "what", "window")
		containsAll(t, page, "The subscription begins now", "Nothing was delivered yet")
	})
}

// follow follows what the tests remember, and returns the id of the subscription.
func (w *world) follow() string {
	w.t.Helper()
	var made api.Subscription
	wanted := api.NewSubscription{Scope: "team:pay", Webhook: w.url, Note: "the wall"}
	if _, err := w.api.Do(w.t.Context(), client.Post(wanted, "v1", "subscriptions"), &made); err != nil {
		w.t.Fatal(err)
	}
	w.remember(client.Knowledge{ID: "followed", Type: "plan", Content: "Tuesdays.", Owner: "team:pay", Scopes: []string{"team:pay"}})
	return made.ID
}

func TestAFeedIsShownFromItsNewestEvent(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		root := w.login(rootKey)
		var made api.Subscription
		if _, err := w.api.Do(t.Context(), client.Post(api.NewSubscription{Scope: "team:pay"}, "v1", "subscriptions"), &made); err != nil {
			t.Fatal(err)
		}
		one := "/console/subscriptions/" + made.ID
		all := make([]client.Knowledge, 603)
		for i := range all {
			scope := "team:ops"
			if i < 2 || i == 602 {
				scope = "team:pay"
			}
			all[i] = client.Knowledge{ID: fmt.Sprint("plan", i), Type: "plan", Content: fmt.Sprint("Plan ", i), Owner: scope, Scopes: []string{scope}}
		}
		if _, err := w.api.Do(t.Context(), client.Post(all, "v1", "knowledge"), nil); err != nil {
			t.Fatal(err)
		}
		isMore := func(n *html.Node) bool { return strings.HasPrefix(attribute(n, "href"), one+"?before=") }
		_, page := w.visit(root, one)
		more := elements(t, page, isMore)
		if len(more) != 1 || !strings.Contains(page, `"/console/k/plan602"`) || strings.Contains(page, `"/console/k/plan1"`) {
			t.Fatalf("%d links to more:\n%s", len(more), page)
		}
		_, page = w.visit(root, attribute(more[0], "href"))
		newer, older := strings.Index(page, `"/console/k/plan1"`), strings.Index(page, `"/console/k/plan0"`)
		if newer < 0 || older < newer || len(elements(t, page, isMore)) > 0 {
			t.Errorf("%d, %d:\n%s", newer, older, page)
		}
	})
}

func TestADigestAndTheHealthOfAScopeLeadToItsItems(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.staff()
		w.verified() // part: policies
		w.remember(client.Knowledge{ID: "paid", Type: "plan", Task: "When to pay", Content: "Pay at ten.", Owner: "user:ben", Scopes: []string{"team:pay"}})
		_, page := w.ask("/console/scopes/digest?scope=team:pay")
		containsAll(t, page, `href="/console/k/paid"`, "When to pay", "# Payments", "](http://", "&lt;h2&gt;New: 1&lt;/h2&gt;", "Waiting for a review")
		status, page := w.ask("/console/scopes/digest?scope=pay&since=never")
		if status != http.StatusUnprocessableEntity {
			t.Errorf("%d", status)
		}
		containsAll(t, page, `value="pay"`, `id="scope-wrong"`, `id="since-wrong"`)
		_, page = w.ask("/console/scopes?health=yes")
		containsAll(t, page, "How well it is looked after", "verified 0 %, new 100 %, doubtful 0 %", "queue=owner_deactivated&amp;scope=team%3Apay", "100 %")
		_, page = w.ask("/console/reports/health?scope=team:pay")
		containsAll(t, page, "Median age in days")
	})
}
