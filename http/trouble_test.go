package http_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
)

// occupy holds the lock that every append needs until release is called.
func (w *world) occupy() (release func()) {
	w.t.Helper()
	let, held := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		err := w.db.Transact(w.t.Context(), func(ctx context.Context, tx bun.Tx) error {
			defer func() { <-let }()
			defer close(held)
			return w.log.LockTenant(ctx, tx, "default")
		})
		if err != nil {
			w.t.Errorf("hold the lock: %v", err)
		}
	})
	<-held
	release = sync.OnceFunc(func() { close(let); holding.Wait() })
	w.t.Cleanup(release)
	return release
}

func TestATimeoutIsSaidAndRecordsNothing(t *testing.T) {
	eachWith(t, func(c *servertest.Config) { c.Timeout = 400 * time.Millisecond }, func(t *testing.T, w *world) {
		release := w.occupy()
		var first sync.WaitGroup
		first.Go(func() { // the log has begun with it: it is carried through
			if got := w.ask("POST", "/v1/knowledge", item("first", "x")); got.status != http.StatusCreated {
				t.Errorf("first: %d %s", got.status, got.body)
			}
		})
		time.Sleep(100 * time.Millisecond)
		late := w.ask("POST", "/v1/knowledge", item("late", "x")).want(http.StatusServiceUnavailable)
		if late.json()["type"] != "urn:annals:problem:timeout" || late.header.Get("Retry-After") == "" {
			t.Errorf("%v %s", late.header, late.body)
		}
		release()
		first.Wait()
		w.ask("GET", "/v1/knowledge/late", nil).want(http.StatusNotFound)
		w.ask("POST", "/v1/knowledge", item("late", "x")).want(http.StatusCreated)
	})
}

func TestAFullQueueRefusesAndRecovers(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, events.Options{Queue: 1}, nil)
		release := w.occupy()
		const many = 8
		statuses := make([]int, many)
		var asking sync.WaitGroup
		for i := range many {
			asking.Go(func() {
				a := w.ask("POST", "/v1/knowledge", object{"type": "tool", "content": "x"})
				if statuses[i] = a.status; a.status == http.StatusServiceUnavailable &&
					(a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "problem:busy")) {
					t.Errorf("%v %s", a.header, a.body)
				}
			})
		}
		time.Sleep(300 * time.Millisecond) // the refused ones do not wait for the lock
		release()
		asking.Wait()
		counts := map[int]int{}
		for _, status := range statuses {
			counts[status]++
		}
		if counts[http.StatusServiceUnavailable] == 0 || counts[http.StatusCreated] == 0 || len(counts) != 2 {
			t.Errorf("answers: %v", counts)
		}
		w.ask("POST", "/v1/knowledge", item("", "after")).want(http.StatusCreated)
	})
}

func TestManyWaitForRoomInTheQueue(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, events.Options{Queue: 2}, nil)
		release := w.occupy()
		const senders = 6
		var sending sync.WaitGroup
		for range senders {
			sending.Go(func() {
				two := object{"type": "tool", "content": "x"}
				lines := w.ask("POST", "/v1/knowledge", []object{two, two}).lines()
				like(t, lines, []any{object{"status": "created"}, object{"status": "created"}})
			})
		}
		time.Sleep(200 * time.Millisecond)
		release()
		sending.Wait()
		w.logEndsAt(2 * senders)
	})
}

func TestADatabaseThatIsAwayIs503UntilItIsBack(t *testing.T) {
	t.Parallel()
	proxy := databasetest.NewProxy(t, databasetest.Migrated(t, database.Postgres))
	db := databasetest.Open(t, proxy.URL)
	w := newWorld(t, db, events.Options{}, nil)
	w.remember("a", "x")
	w.ask("GET", "/readyz", nil).want(http.StatusOK)
	proxy.Down()
	for _, a := range []*answer{
		w.ask("GET", "/v1/knowledge/a", nil), w.ask("GET", "/v1/knowledge", nil), w.ask("GET", "/v1/events", nil),
		w.ask("GET", "/v1/knowledge/a/history", nil), w.ask("GET", "/v1/projections", nil),
		w.ask("POST", "/v1/search", object{"query": "x"}), w.ask("POST", "/v1/knowledge", item("b", "x")),
	} {
		a.want(http.StatusServiceUnavailable)
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s: Retry-After is missing", a.what)
		}
	}
	many := w.ask("POST", "/v1/knowledge", []object{item("b", "x"), item("c", "y")}).want(http.StatusOK)
	same(t, strings.Join(outcomes(many.lines()), ", "), "b error 503, c error 503")
	unready := w.ask("GET", "/readyz", nil).want(http.StatusServiceUnavailable)
	checks, _ := unready.json()["checks"].([]any)
	like(t, checks, []any{object{"status": "failed", "reason": some{}}})
	w.ask("GET", "/healthz", nil).want(http.StatusOK)
	proxy.Up()
	w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK)
	w.ask("POST", "/v1/knowledge", item("b", "x")).want(http.StatusCreated)
	w.ask("GET", "/readyz", nil).want(http.StatusOK)
}

func TestShutdownFinishesWhatItAccepted(t *testing.T) {
	eachWith(t, func(c *servertest.Config) { c.PreStopDelay = 200 * time.Millisecond }, func(t *testing.T, w *world) {
		release := w.occupy()
		const many = 5
		var asking sync.WaitGroup
		for range many {
			asking.Go(func() {
				if a := w.ask("POST", "/v1/knowledge", object{"type": "tool", "content": "x"}); a.status != http.StatusCreated {
					t.Errorf("an accepted write is answered with %d %s", a.status, a.body)
				}
			})
		}
		time.Sleep(200 * time.Millisecond) // they wait for the lock now
		stopped := make(chan error, 1)
		go func() { stopped <- w.stop() }()
		for w.ask("GET", "/readyz", nil).status == http.StatusOK {
			time.Sleep(5 * time.Millisecond)
		}
		release()
		asking.Wait()
		if err := <-stopped; err != nil {
			t.Errorf("serve: %v", err)
		}
		if _, err := w.client.Do(w.request("GET", "/healthz", nil)); err == nil { //nolint:bodyclose // there is none
			t.Error("it still answers")
		}
		w.logEndsAt(many)
	})
}

func TestShutdownCutsWhatHasNoEnd(t *testing.T) {
	eachWith(t, func(c *servertest.Config) { c.ShutdownTimeout = 2 * time.Second }, func(t *testing.T, w *world) {
		talk := w.converse()
		talk.say(`{"id":"a","type":"tool","content":"1"}`)
		like(t, talk.hear(), object{"status": "created"})
		if err := w.stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
		like(t, talk.hear(), object{"error": object{"type": "urn:annals:problem:closing"}})
	})
}
