package http_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	watermill "github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections"
)

// followed is a world in which projections follow the log: the vectors, and one that cannot take in the
// stream of an item called bad until it is mended.
type followed struct {
	*world
	mended atomic.Bool
	base   *projections.Knowledge
}

// eachFollowed is each, with projections that follow once they are started.
func eachFollowed(t *testing.T, test func(t *testing.T, w *followed)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := &followed{}
		w.world = newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			w.base = cfg.Reader.(projections.Reader).Knowledge
			cfg.Background = projections.Background{Followers: cfg.Followers}
		})
		test(t, w)
	})
}

// follow starts the projections; they end with the test.
func (w *followed) follow() {
	w.t.Helper()
	servertest.Follow(w.t, func(router *watermill.Router) {
		w.base.Models.Configured.Follow(router, w.followers)
		follow.AddPreparer(router, w.followers, "picky", func(_ context.Context, page follow.Page) (follow.Change, error) {
			for _, event := range page.Events {
				if event.Stream == "knowledge:bad" && !w.mended.Load() {
					return nil, errors.New("cannot take this in")
				}
			}
			return follow.NoChange{}, nil
		})
	})
}

// quarantine waits until so many streams are in it, and gives them.
func (w *followed) quarantine(n int) []object {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		items := w.ask("GET", "/v1/projections/picky/quarantine", nil).want(http.StatusOK).items()
		if len(items) == n {
			return items
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("got %d streams in quarantine, want %d", len(items), n)
		}
	}
}

func TestQuarantineIsSeenReplayedAndSkipped(t *testing.T) {
	eachFollowed(t, func(t *testing.T, w *followed) {
		w.remember("good", "x")
		w.remember("bad", "x")
		w.follow()
		for _, q := range w.quarantine(1) {
			like(t, q, object{"stream": "knowledge:bad", "position": 2.0, "error": "cannot take this in", "waiting": 1.0})
		}
		const path = "/v1/projections/picky/quarantine"
		for _, r := range w.ask("POST", path+"/replay", nil).want(http.StatusOK).items() {
			like(t, r, object{"released": false, "left": object{"attempts": 4.0}})
		}
		w.mended.Store(true)
		for _, r := range w.ask("POST", path+"/replay?stream=knowledge:bad", nil).want(http.StatusOK).items() {
			like(t, r, object{"released": true, "events": 1.0, "left": nil})
		}
		w.quarantine(0)

		w.mended.Store(false)
		w.ask("POST", "/v1/knowledge/bad/stale", nil).want(http.StatusOK)
		w.quarantine(1)
		for query, field := range map[string]string{
			"": "stream: name one, or say all=true", "?stream=knowledge:bad&all=true": "stream: name one, or say all=true",
		} {
			like(t, w.ask("POST", path+"/skip"+query, nil).want(http.StatusUnprocessableEntity).errors(), []any{field}, query)
		}
		for _, s := range w.ask("POST", path+"/skip?all=true", nil).want(http.StatusOK).items() {
			skipped := s["events"].([]any)
			like(t, skipped, []any{object{"name": "knowledge.reported_stale", "position": 3.0}}, s)
		}
		w.quarantine(0)
		for _, again := range []string{"/replay?stream=knowledge:bad", "/skip?stream=knowledge:bad"} {
			w.ask("POST", path+again, nil).want(http.StatusNotFound)
		}
		w.ask("GET", "/v1/projections/nonsense/quarantine", nil).want(http.StatusNotFound)
		w.ask("GET", "/v1/projections/knowledge/quarantine", nil).want(http.StatusConflict)
		w.ask("POST", "/v1/projections/picky/replay", nil).want(http.StatusConflict)
	})
}

func TestAnExplanationSaysThatMeaningIsStillToCome(t *testing.T) {
	eachFollowed(t, func(t *testing.T, w *followed) {
		position := w.remember("k", "retry with jitter").header.Get("Annals-Position")
		pending := func(explain bool, query string) any {
			t.Helper()
			a := w.ask("POST", "/v1/search"+query, object{"query": "retry with jitter", "explain": explain}).want(http.StatusOK)
			return pick(a.items()[0], "parts", "semantic_pending")
		}
		same(t, []any{pending(true, ""), pending(false, "")}, []any{true, nil}, "at once")
		w.follow()
		same(t, pending(true, "?min_position="+position), nil, "when the vector is there")
	})
}

func TestAReadWaitsUntilItIsAsNewAsAPosition(t *testing.T) {
	eachFollowed(t, func(t *testing.T, w *followed) {
		position := w.remember("k", "retry with jitter").header.Get("Annals-Position")
		question := object{"query": "retry with jitter"}
		for _, path := range []string{"/v1/knowledge/k", "/v1/knowledge"} { // written with the event
			w.ask("GET", path+"?min_position="+position, nil).want(http.StatusOK)
		}
		a := w.ask("POST", "/v1/search?max_wait=1&min_position="+position, question).want(http.StatusServiceUnavailable)
		if a.json()["type"] != "urn:annals:problem:behind" || a.header.Get("Retry-After") == "" {
			t.Errorf("got %v, retry after %q", a.json(), a.header.Get("Retry-After"))
		}
		w.follow()
		for i := range 5 {
			content := fmt.Sprint("lesson about backoff ", i)
			position = w.remember(fmt.Sprint("k", i), content).header.Get("Annals-Position")
			a := w.ask("POST", "/v1/search?min_position="+position, object{"query": content, "limit": 1}).want(http.StatusOK)
			if hit := a.items()[0]; pick(hit, "knowledge", "id") != fmt.Sprint("k", i) || pick(hit, "parts", "semantic").(float64) < 0.5 {
				t.Errorf("got %v, want what was just written, found by its meaning", hit)
			}
		}
		w.ask("POST", "/v1/search", question, header("Annals-Min-Position: "+position)).want(http.StatusOK)

		head, err := strconv.Atoi(position)
		if err != nil {
			t.Fatal(err)
		}
		coming := make(chan *answer)
		go func() { coming <- w.ask("GET", fmt.Sprint("/v1/knowledge/k?min_position=", head+1), nil) }()
		w.remember("later", "what somebody waits for")
		(<-coming).want(http.StatusOK)

		beyond := make(chan *answer)
		for _, ask := range []func() *answer{
			func() *answer {
				return w.ask("POST", fmt.Sprint("/v1/search?max_wait=1&min_position=", head+2), question)
			},
			func() *answer { return w.ask("GET", fmt.Sprint("/v1/knowledge?max_wait=1&min_position=", head+2), nil) },
			func() *answer {
				return w.ask("GET", fmt.Sprint("/v1/knowledge/k?max_wait=1&min_position=", head+2), nil)
			},
		} {
			go func() { beyond <- ask() }()
		}
		for range 3 {
			a := (<-beyond).want(http.StatusServiceUnavailable)
			if a.json()["type"] != "urn:annals:problem:behind" || a.header.Get("Retry-After") == "" {
				t.Errorf("beyond the log: got %v, retry after %q", a.json(), a.header.Get("Retry-After"))
			}
		}
		got := w.ask("POST", "/v1/search?min_position=x&max_wait=99", question).want(http.StatusUnprocessableEntity).errors()
		same(t, len(got), 2)
	})
}

func TestAProjectionTellsHowItGetsOn(t *testing.T) {
	eachFollowed(t, func(t *testing.T, w *followed) {
		meaning := func() object {
			for _, p := range w.ask("GET", "/v1/projections", nil).want(http.StatusOK).items() {
				if p["name"] == "meaning" {
					return p
				}
			}
			return nil
		}
		w.remember("k", "x")
		like(t, meaning(), object{"lag_events": 1.0, "read_at": nil, "halted": false, "holder": nil})
		w.follow()
		position := w.remember("l", "y").header.Get("Annals-Position")
		w.ask("POST", "/v1/search?min_position="+position, object{"query": "y"}).want(http.StatusOK)
		like(t, meaning(), object{"lag_events": 0.0, "read_at": some{}, "holder": w.db.InstanceID}, "while it works")

		// The log is put back without the checkpoints.
		servertest.Execute(t, w.db, `UPDATE checkpoints SET event_id = '0195a000-0000-7000-8000-000000000001'`)
		like(t, meaning(), object{"halted": true, "error": some{}})
		w.ask("POST", "/v1/projections/meaning/replay", nil).want(http.StatusAccepted)
		w.ask("POST", "/v1/search?min_position="+position, object{"query": "y"}).want(http.StatusOK)
		like(t, meaning(), object{"halted": false, "lag_events": 0.0}, "after reading again")
	})
}
