package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
)

func TestAWebhookIsMadeTestedAndWatchedInTheBrowser(t *testing.T) {
	each(t, rootKey, func(t *testing.T, w *world) {
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
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if _, page = w.visit(root, one+"?state=delivered"); strings.Contains(page, `value="replay"`) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("nothing was delivered:\n%s", page)
			}
		}
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
	each(t, rootKey, func(t *testing.T, w *world) {
		root := w.login(rootKey)
		_, page := w.send(root, "/console/subscriptions", "follows", "scope", "what", "team:pay")
		containsAll(t, page, "Nothing was delivered yet")
		var list api.Subscriptions
		if _, err := w.api.Do(t.Context(), client.Get("v1", "subscriptions"), &list); err != nil || len(list.Items) != 1 {
			t.Fatal(list, err)
		}
		one := "/console/subscriptions/" + list.Items[0].ID
		remember := func(scope string, ids ...int) {
			all := make([]client.Knowledge, len(ids))
			for i, id := range ids {
				all[i] = client.Knowledge{ID: fmt.Sprint(scope[5:], id), Type: "plan", Content: fmt.Sprint("Plan ", id), Owner: scope, Scopes: []string{scope}}
			}
			if _, err := w.api.Do(t.Context(), client.Post(all, "v1", "knowledge"), nil); err != nil {
				t.Fatal(err)
			}
		}
		remember("team:pay", 1, 2)
		others := make([]int, 600)
		for i := range others {
			others[i] = i
		}
		remember("team:ops", others...)
		_, page = w.visit(root, one)
		if newest, oldest := strings.Index(page, "/console/k/pay2"), strings.Index(page, "/console/k/pay1"); newest < 0 || oldest < newest {
			t.Errorf("%d, %d:\n%s", newest, oldest, page)
		}
		remember("team:pay", 3)
		_, page = w.visit(root, one)
		containsAll(t, page, "/console/k/pay3")
		if strings.Contains(page, "/console/k/pay2") {
			t.Error("shows all at once")
		}
		isMore := func(n *html.Node) bool { return strings.HasPrefix(attribute(n, "href"), one+"?before=") }
		more := elements(t, page, isMore)
		if len(more) != 1 {
			t.Fatalf("%d links to more", len(more))
		}
		_, page = w.visit(root, attribute(more[0], "href"))
		containsAll(t, page, "/console/k/pay2", "/console/k/pay1")
		if len(elements(t, page, isMore)) > 0 {
			t.Error("there is nothing before the subscription")
		}
	})
}

func TestADigestAndTheHealthOfAScopeLeadToItsItems(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		w.staff()
		w.verified()
		w.remember(client.Knowledge{ID: "paid", Type: "plan", Task: "When to pay", Content: "Pay at ten.", Owner: "user:ben", Scopes: []string{"team:pay"}})
		_, page := w.ask("/console/scopes/digest?scope=team:pay")
		containsAll(t, page, `href="/console/k/paid"`, "When to pay", "# team:pay", "Waiting for a review")
		status, page := w.ask("/console/scopes/digest?scope=pay&since=never")
		if status != http.StatusUnprocessableEntity {
			t.Errorf("%d", status)
		}
		containsAll(t, page, `value="pay"`, `id="scope-wrong"`, `id="since-wrong"`)
		_, page = w.ask("/console/scopes")
		containsAll(t, page, "How well it is looked after", "queue=owner_deactivated&amp;scope=team%3Apay", "100 %")
		_, page = w.ask("/console/reports/health?scope=team:pay")
		containsAll(t, page, "Median age in days")
	})
}
