package http_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	. "github.com/annals-kb/annals/http/servertest"
)

// occupy holds the lock that every append needs until release is called.
func occupy(w *World) (release func()) {
	w.T.Helper()
	let, held := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		err := w.DB.Transact(w.T.Context(), func(ctx context.Context, tx bun.Tx) error {
			defer func() { <-let }()
			defer close(held)
			return w.Log.LockTenant(ctx, tx, "default")
		})
		if err != nil {
			w.T.Errorf("hold the lock: %v", err)
		}
	})
	<-held
	release = sync.OnceFunc(func() { close(let); holding.Wait() })
	w.T.Cleanup(release)
	return release
}

func TestATimeoutIsSaidAndRecordsNothing(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		release := occupy(w)
		var first sync.WaitGroup
		first.Go(func() { // the log has begun with it: it is carried through
			if got := w.Ask("POST", "/v1/knowledge", Item("first", "x")); got.Status != http.StatusCreated {
				t.Errorf("first: %d %s", got.Status, got.Body)
			}
		})
		databasetest.Until(t, "the log begins", func() bool { return w.Log.OldestWait() > 0 })
		w.Measures("annals_append_queue 0")
		hasty := httptest.NewServer(w.Another(func(cfg *Config) { cfg.Timeout = 400 * time.Millisecond }).Handler())
		defer hasty.Close()
		late := Request[string](t, "POST", hasty.URL+"/v1/knowledge", Item("late", "x"))
		if status, head, body := Send(t, w.Client, late); status != http.StatusServiceUnavailable ||
			!strings.Contains(string(body), "urn:annals:problem:timeout") || head.Get("Retry-After") == "" {
			t.Errorf("%d %v %s", status, head, body)
		}
		release()
		first.Wait()
		w.Ask("GET", "/v1/knowledge/late", nil).Want(http.StatusNotFound)
		w.Ask("POST", "/v1/knowledge", Item("late", "x")).Want(http.StatusCreated)
	})
}

func TestAFullQueueRefusesAndRecovers(t *testing.T) {
	EachIn(t, events.Options{Queue: 1}, nil, func(t *testing.T, w *World) {
		release := occupy(w)
		const many = 8
		statuses := make([]int, many)
		var refused atomic.Int64
		var asking sync.WaitGroup
		for i := range many {
			asking.Go(func() {
				a := w.Ask("POST", "/v1/knowledge", Object{"type": "tool", "content": "x"})
				if statuses[i] = a.Status; a.Status == http.StatusServiceUnavailable {
					refused.Add(1)
					if a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), "problem:busy") {
						t.Errorf("%v %s", a.Header, a.Body)
					}
				}
			})
		}
		databasetest.Until(t, "one is refused", func() bool { return refused.Load() > 0 }) // it does not wait for the lock
		release()
		asking.Wait()
		counts := map[int]int{}
		for _, status := range statuses {
			counts[status]++
		}
		if counts[http.StatusServiceUnavailable] == 0 || counts[http.StatusCreated] == 0 || len(counts) != 2 {
			t.Errorf("answers: %v", counts)
		}
		w.Ask("POST", "/v1/knowledge", Item("", "after")).Want(http.StatusCreated)
	})
}

func TestManyWaitForRoomInTheQueue(t *testing.T) {
	EachIn(t, events.Options{Queue: 2}, nil, func(t *testing.T, w *World) {
		release := occupy(w)
		const senders = 6
		var sending sync.WaitGroup
		for range senders {
			sending.Go(func() {
				two := Object{"type": "tool", "content": "x"}
				lines := w.Ask("POST", "/v1/knowledge", []Object{two, two}).Lines()
				Like(t, lines, []any{Object{"status": "created"}, Object{"status": "created"}})
			})
		}
		w.Measures(fmt.Sprint("annals_http_requests_in_flight ", senders+1))
		release()
		sending.Wait()
		w.EndsAt(2 * senders)
	})
}

func TestADatabaseThatIsAwayIs503UntilItIsBack(t *testing.T) {
	t.Parallel()
	proxy := databasetest.NewProxy(t, databasetest.Migrated(t, database.Postgres))
	db := databasetest.Open(t, proxy.URL)
	w := NewWorld(t, db, events.Options{}, nil)
	w.Remember("a", "x")
	w.Ask("GET", "/readyz", nil).Want(http.StatusOK)
	proxy.Down()
	for _, a := range []*Answer{
		w.Ask("GET", "/v1/knowledge/a", nil), w.Ask("GET", "/v1/knowledge", nil), w.Ask("GET", "/v1/events", nil),
		w.Ask("GET", "/v1/knowledge/a/history", nil), w.Ask("GET", "/v1/projections", nil),
		w.Ask("POST", "/v1/search", Object{"query": "x"}), w.Ask("POST", "/v1/knowledge", Item("b", "x")),
	} {
		a.Want(http.StatusServiceUnavailable)
		if a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: Retry-After is missing", a.What)
		}
	}
	many := w.Ask("POST", "/v1/knowledge", []Object{Item("b", "x"), Item("c", "y")}).Want(http.StatusOK)
	Same(t, strings.Join(many.Outcomes(), ", "), "b error 503, c error 503")
	unready := w.Ask("GET", "/readyz", nil).Want(http.StatusServiceUnavailable)
	checks, _ := unready.JSON()["checks"].([]any)
	Like(t, checks, []any{Object{"status": "failed", "reason": Some{}}})
	w.Ask("GET", "/healthz", nil).Want(http.StatusOK)
	proxy.Up()
	w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK)
	w.Ask("POST", "/v1/knowledge", Item("b", "x")).Want(http.StatusCreated)
	w.Ask("GET", "/readyz", nil).Want(http.StatusOK)
}

func TestShutdownFinishesWhatItAccepted(t *testing.T) {
	EachWith(t, func(_ *World, c *Config) { c.PreStopDelay = 3 * time.Second }, func(t *testing.T, w *World) {
		release := occupy(w)
		const many = 5
		var asking sync.WaitGroup
		for range many {
			asking.Go(func() {
				if a := w.Ask("POST", "/v1/knowledge", Object{"type": "tool", "content": "x"}); a.Status != http.StatusCreated {
					t.Errorf("an accepted write is answered with %d %s", a.Status, a.Body)
				}
			})
		}
		w.Measures(fmt.Sprint("annals_http_requests_in_flight ", many+1))
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop() }()
		databasetest.Until(t, "it is not ready", func() bool { return w.Ask("GET", "/readyz", nil).Status != http.StatusOK })
		release()
		asking.Wait()
		if err := <-stopped; err != nil {
			t.Errorf("serve: %v", err)
		}
		if _, err := w.Client.Do(w.Request("GET", "/healthz", nil)); err == nil { //nolint:bodyclose // there is none
			t.Error("it still answers")
		}
		w.EndsAt(many)
	})
}

func TestShutdownCutsWhatHasNoEnd(t *testing.T) {
	EachWith(t, func(_ *World, c *Config) { c.ShutdownTimeout = 6 * time.Second }, func(t *testing.T, w *World) {
		talk := talkTo(w)
		talk.say(`{"id":"a","type":"tool","content":"1"}`)
		Like(t, talk.hear(), Object{"status": "created"})
		if err := w.Stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
		Like(t, talk.hear(), Object{"error": Object{"type": "urn:annals:problem:closing"}})
	})
}

func TestAFullDiskRefusesWritesAndLosesNothing(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := NewWorld(t, db, events.Options{}, nil)
	w.Remember("before", "rivers carry sand")
	growTo(w, pages(w)+50)

	kept, refused := []string{"before"}, ""
	for i := 0; refused == ""; i++ {
		id := fmt.Sprintf("large-%d", i)
		switch got := w.Ask("POST", "/v1/knowledge", Item(id, strings.Repeat("sand ", 4000))); {
		case got.Status == http.StatusCreated && i < 50:
			kept = append(kept, id)
		default:
			got.Want(http.StatusInsufficientStorage)
			if p := got.JSON(); p["type"] != "urn:annals:problem:full" || p["fix"] == nil || got.Header.Get("Retry-After") == "" {
				t.Errorf("%v %s", got.Header, got.Body)
			}
			refused = id
		}
	}
	lines := w.Ask("POST", "/v1/knowledge", []Object{Item(refused, strings.Repeat("x", 60_000)), Item("second", "x")}).Lines()
	Like(t, lines, []any{Object{"error": Object{"status": http.StatusInsufficientStorage}}, Object{}}, "many at once")

	// What was accepted is there, of what was refused there is nothing.
	for _, id := range kept {
		w.Ask("GET", "/v1/knowledge/"+id, nil).Want(http.StatusOK)
	}
	w.Ask("GET", "/v1/knowledge/"+refused, nil).Want(http.StatusNotFound)
	Same(t, len(w.Ask("GET", "/v1/events?limit=100", nil).Items()), len(kept))
	Same(t, len(w.Ask("POST", "/v1/search", Object{"query": "rivers"}).Want(http.StatusOK).Items()), 1)

	growTo(w, pages(w)+5_000)
	w.Remember(refused, "there is room again")
}

// pages are how large the file of a SQLite database is.
func pages(w *World) (count int) {
	w.T.Helper()
	if err := w.DB.NewRaw(`PRAGMA page_count`).Scan(w.T.Context(), &count); err != nil {
		w.T.Fatal(err)
	}
	return count
}

// growTo lets the file become so large and no larger, as a disk would.
func growTo(w *World, pages int) {
	w.T.Helper()
	Execute(w.T, w.DB, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
}
