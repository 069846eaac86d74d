package subscriptions_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/subscriptions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a log with its deliveries, and a receiver.
type world struct {
	*subscriptions.Subscriptions
	t         *testing.T
	log       *events.Log
	followers *follow.Followers
	at        string // the receiver

	mu     sync.Mutex
	status int
	header http.Header    // of the next answers
	got    map[string]int // by path and id
	order  []string       // ids
	signed int            // signatures of the newest post
}

// soon is when the deliveries of most tests are dead.
const soon = 300 * time.Millisecond

func newWorld(t *testing.T, db *database.DB, giveUp time.Duration) *world {
	t.Helper()
	base, err := projections.Open(t.Context(), db, projections.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, status: http.StatusOK, header: http.Header{}, got: map[string]int{}}
	w.log, w.followers = follow.NewLog(db, base.Projection, events.Options{Selection: base.Browser, Logger: databasetest.Log(t), Poll: 50 * time.Millisecond})
	w.Subscriptions = subscriptions.New(subscriptions.Options{
		DB: db, Log: w.log, Followers: w.followers, Writer: w.log, Items: base.Browser, First: time.Millisecond, GiveUp: giveUp,
		Client: &http.Client{Timeout: 5 * time.Minute},
		Logger: databasetest.Log(t), Show: func(e domain.Event) any { return e.Name },
		Rights: func(_ context.Context, tenant string, s domain.Subscription) (domain.Principal, error) {
			return domain.Principal{Tenant: tenant, Subject: s.Subscriber, Role: domain.Member}, nil
		},
	})
	receiver := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "00") { // never answers
			<-r.Context().Done()
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.got[r.URL.Path+" "+r.Header.Get("webhook-id")]++
		w.order = append(w.order, r.Header.Get("webhook-id"))
		w.signed = len(strings.Fields(r.Header.Get("webhook-signature")))
		maps.Copy(answer.Header(), w.header)
		answer.WriteHeader(w.status)
	}))
	w.at = receiver.URL
	router, err := follow.NewRouter(databasetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	w.Follow(router)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	running.Go(func() {
		if err := follow.Run(ctx, router); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		receiver.Close()
		if err := w.log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) answers(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = status
}

// subscribe lets a user follow the public scope.
func (w *world) subscribe(user int) (id string) {
	w.t.Helper()
	return w.follows(user, domain.Following{Scope: domain.Public})
}

func (w *world) follows(user int, what domain.Following) (id string) {
	w.t.Helper()
	by := domain.OpenPrincipal()
	by.Subject = domain.Entity(fmt.Sprintf("user:u%d", user%100))
	id = fmt.Sprintf("s%d", user)
	command, err := domain.Subscribe{
		By: by, ID: id, Follow: what, Webhook: true, URL: fmt.Sprintf("%s/%d", w.at, user),
	}.Complete()
	if err == nil {
		_, err = w.Secret(w.t.Context(), by.Tenant, id, 0)
	}
	if err == nil {
		_, err = w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: by})
	}
	if err != nil {
		w.t.Error(err)
	}
	return id
}

func (w *world) remember(id string) {
	w.t.Helper()
	w.rememberIn(id, domain.Public)
}

func (w *world) rememberIn(id string, scope domain.Scope) {
	w.t.Helper()
	by := domain.OpenPrincipal()
	command, err := domain.Remember{By: by, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Types[0]}, Text: domain.Text{Content: "what somebody wrote"}, Scopes: []domain.Scope{scope},
	}}.Complete()
	if err == nil {
		_, err = w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: by})
	}
	if err != nil {
		w.t.Error(err)
	}
}

// counts waits until a subscription has so many deliveries in a state.
func (w *world) counts(id, state string, wanted int64) {
	w.t.Helper()
	databasetest.Until(w.t, fmt.Sprintf("%s has %d %s", id, wanted, state), func() bool {
		counts, err := w.Counts(w.t.Context(), domain.DefaultTenant, id)
		if err != nil {
			w.t.Fatal(err)
		}
		return counts[state] == wanted
	})
}

func TestTwentySubscribersThatRaceReceiveEveryLaterEventOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		const users, items = 20, 5
		w := newWorld(t, db, soon)
		var racing sync.WaitGroup
		for i := range users {
			racing.Go(func() { w.subscribe(i) })
		}
		racing.Wait()
		for i := range items {
			racing.Go(func() { w.remember(fmt.Sprintf("k%d", i)) })
		}
		racing.Wait()
		for i := range users {
			w.counts(fmt.Sprintf("s%d", i), "delivered", items)
		}
		if err := w.followers.Reset(t.Context(), subscriptions.Name, domain.DefaultTenant); err != nil { // and read again
			t.Fatal(err)
		}
		w.remember("last")
		for i := range users {
			w.counts(fmt.Sprintf("s%d", i), "delivered", items+1)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for what, times := range w.got {
			if times != 1 {
				t.Errorf("%s was received %d times", what, times)
			}
		}
		if len(w.got) != users*(items+1) {
			t.Errorf("%d were received, want %d", len(w.got), users*(items+1))
		}
	})
}

func TestSilentReceiversOfOneSubscriberDelayNoOtherOne(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, soon)
		for i := range 2 * 32 { // more than are posted to at once
			w.subscribe(100 * (i + 1))
		}
		other := w.subscribe(99) // the last in order
		w.remember("k")
		w.counts(other, "delivered", 1)
	})
}

func TestADeadDeliveryCanBeReplayed(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, soon)
		w.answers(http.StatusFound)
		id := w.subscribe(0)
		w.remember("k")
		w.counts(id, "dead", 1)
		found, err := w.Deliveries(t.Context(), domain.DefaultTenant, id, domain.DeliveryQuery{Limit: 10})
		if err != nil || len(found) != 1 || found[0].Status != http.StatusFound || found[0].Attempts < 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		w.answers(http.StatusNoContent)
		if n, err := w.Replay(t.Context(), domain.DefaultTenant, id, ""); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		w.counts(id, "delivered", 1)
	})
}

func TestAWebhookWaitsAsLongAsTheReceiverAsksAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, time.Hour)
		w.header.Set("Retry-After", "3600")
		w.answers(http.StatusTooManyRequests)
		id := w.subscribe(0)
		w.remember("first")
		w.attempted(id, 1)
		w.remember("second")
		w.counts(id, "pending", 2)
		found := w.attempted(id, 1)
		if wait := time.Until(found[1].NextAt); wait < 50*time.Minute || found[0].Attempts != 0 {
			t.Errorf("the next attempt is in %s, and the second event has %d attempts", wait, found[0].Attempts)
		}
		w.answers(http.StatusOK)
		if err := w.Resume(t.Context(), domain.DefaultTenant, id); err != nil {
			t.Fatal(err)
		}
		w.counts(id, "delivered", 2)
		w.mu.Lock()
		defer w.mu.Unlock()
		if want := []string{found[1].EventID, found[1].EventID, found[0].EventID}; !slices.Equal(w.order, want) {
			t.Errorf("received %v, want %v", w.order, want)
		}
	})
}

// attempted waits until the oldest delivery has had so many attempts, and returns all, the newest event first.
func (w *world) attempted(id string, times int) (found []domain.Delivery) {
	w.t.Helper()
	databasetest.Until(w.t, fmt.Sprintf("%s has %d attempts", id, times), func() (is bool) {
		var err error
		if found, err = w.Deliveries(w.t.Context(), domain.DefaultTenant, id, domain.DeliveryQuery{Limit: 10}); err != nil {
			w.t.Fatal(err)
		}
		return len(found) > 0 && found[len(found)-1].Attempts == times
	})
	return found
}

func TestEventsThatTheSubscriberMayNotReadLeaveNoTrace(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, soon)
		id := w.follows(0, domain.Following{Query: "somebody"})
		w.rememberIn("hidden", "team:build")
		w.remember("shown")
		w.counts(id, "delivered", 1)
		if found, err := w.Deliveries(t.Context(), domain.DefaultTenant, id, domain.DeliveryQuery{Limit: 10}); err != nil || len(found) != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

func TestSubscribersOfAScopeLearnOnceOfAContainment(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, soon)
		id := w.subscribe(0)
		w.remember("poison")
		w.counts(id, "delivered", 1)
		by := domain.OpenPrincipal()
		_, err := w.log.Submit(t.Context(), domain.Submission{
			By: by, Command: domain.Contain{By: by, ID: "c", Applied: domain.ContainmentApplied{
				Items: 2, Scopes: []domain.ContainedScope{{Scope: domain.Public, Items: 1}, {Scope: "user:eve", Items: 1}},
			}},
			Then: []domain.Command{domain.Quarantine{Target: domain.Target{By: by, ID: "poison"}, Containment: "c"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.remember("later")
		w.counts(id, "delivered", 3)
	})
}

func TestAWebhookWithoutASecretReceivesNothingUntilItHasOne(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, soon)
		id, other := w.subscribe(0), w.subscribe(1)
		if err := w.Forget(t.Context(), domain.DefaultTenant, id); err != nil { // as after a restore from an exported log
			t.Fatal(err)
		}
		w.remember("before")
		w.counts(other, "delivered", 1)
		for range 3 { // all that were replaced sign
			if _, err := w.Secret(t.Context(), domain.DefaultTenant, id, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		w.remember("after")
		w.counts(other, "delivered", 2)
		w.counts(id, "delivered", 1)
		to, err := w.Find(t.Context(), domain.DefaultTenant, id)
		if err == nil {
			_, err = w.Ping(t.Context(), domain.DefaultTenant, to)
		}
		if err != nil || w.signed != 3 {
			t.Errorf("%d signatures, %v", w.signed, err)
		}
	})
}

// The example of the specification of Standard Webhooks.
func TestASignatureIsThatOfTheSpecification(t *testing.T) {
	t.Parallel()
	got := subscriptions.Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
