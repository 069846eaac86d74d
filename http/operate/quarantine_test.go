package operate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	watermill "github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events/follow"
	. "github.com/annals-kb/annals/http/servertest"
)

// quarantine waits until so many streams are in it, and gives them.
func quarantine(w *World, n int) (items []Object) {
	w.T.Helper()
	databasetest.Until(w.T, fmt.Sprint(n, " streams are in quarantine"), func() bool {
		items = w.Ask("GET", "/v1/projections/picky/quarantine", nil).Want(http.StatusOK).Items()
		return len(items) == n
	})
	return items
}

func TestQuarantineIsSeenReplayedAndSkipped(t *testing.T) {
	EachWith(t, Following, func(t *testing.T, w *World) {
		w.Remember("good", "x")
		w.Remember("bad", "x")
		var mended atomic.Bool
		Follow(t, func(router *watermill.Router) {
			follow.AddPreparer(router, w.Followers, "picky", func(_ context.Context, page follow.Page) (follow.Change, error) {
				for _, event := range page.Events {
					if event.Stream == "knowledge:bad" && !mended.Load() {
						return nil, errors.New("cannot take this in")
					}
				}
				return follow.NoChange{}, nil
			})
		})
		for _, q := range quarantine(w, 1) {
			Like(t, q, Object{"stream": "knowledge:bad", "position": 2.0, "error": "cannot take this in", "waiting": 1.0})
		}
		const path = "/v1/projections/picky/quarantine"
		for _, r := range w.Ask("POST", path+"/replay", nil).Want(http.StatusOK).Items() {
			Like(t, r, Object{"released": false, "left": Object{"attempts": 4.0}})
		}
		mended.Store(true)
		for _, r := range w.Ask("POST", path+"/replay?stream=knowledge:bad", nil).Want(http.StatusOK).Items() {
			Like(t, r, Object{"released": true, "events": 1.0, "left": nil})
		}
		quarantine(w, 0)

		mended.Store(false)
		w.Ask("POST", "/v1/knowledge/bad/stale", nil).Want(http.StatusOK)
		quarantine(w, 1)
		for query, field := range map[string]string{
			"": "stream: name one, or say all=true", "?stream=knowledge:bad&all=true": "stream: name one, or say all=true",
		} {
			Like(t, w.Ask("POST", path+"/skip"+query, nil).Want(http.StatusUnprocessableEntity).Errors(), []any{field}, query)
		}
		for _, s := range w.Ask("POST", path+"/skip?all=true", nil).Want(http.StatusOK).Items() {
			skipped := s["events"].([]any)
			Like(t, skipped, []any{Object{"name": "knowledge.reported_stale", "position": 3.0}}, s)
		}
		quarantine(w, 0)
		for _, again := range []string{"/replay?stream=knowledge:bad", "/skip?stream=knowledge:bad"} {
			w.Ask("POST", path+again, nil).Want(http.StatusNotFound)
		}
		w.Ask("GET", "/v1/projections/nonsense/quarantine", nil).Want(http.StatusNotFound)
		w.Ask("GET", "/v1/projections/knowledge/quarantine", nil).Want(http.StatusConflict)
		w.Ask("POST", "/v1/projections/picky/replay", nil).Want(http.StatusConflict)
	})
}

func TestAProjectionTellsHowItGetsOn(t *testing.T) {
	EachWith(t, Following, func(t *testing.T, w *World) {
		meaning := func() Object {
			for _, p := range w.Ask("GET", "/v1/projections", nil).Want(http.StatusOK).Items() {
				if p["name"] == "meaning" {
					return p
				}
			}
			return nil
		}
		w.Remember("k", "x")
		Like(t, meaning(), Object{"lag_events": 1.0, "read_at": nil, "halted": false, "holder": nil})
		w.FollowMeaning()
		position := w.Remember("l", "y").Header.Get("Annals-Position")
		w.Ask("POST", "/v1/search?max_wait=25&min_position="+position, Object{"query": "y"}).Want(http.StatusOK)
		Like(t, meaning(), Object{"lag_events": 0.0, "read_at": Some{}, "holder": w.DB.InstanceID}, "while it works")

		// The log is put back without the checkpoints.
		Execute(t, w.DB, `UPDATE checkpoints SET event_id = '0195a000-0000-7000-8000-000000000001'`)
		Like(t, meaning(), Object{"halted": true, "error": Some{}})
		w.Ask("POST", "/v1/projections/meaning/replay", nil).Want(http.StatusAccepted)
		w.Ask("POST", "/v1/search?max_wait=25&min_position="+position, Object{"query": "y"}).Want(http.StatusOK)
		Like(t, meaning(), Object{"halted": false, "lag_events": 0.0}, "after reading again")
	})
}

func TestProjectionsSayHowTheyDo(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "x")
		all := w.Ask("GET", "/v1/projections", nil).Want(http.StatusOK).Items()
		i := slices.IndexFunc(all, func(p Object) bool { return p["name"] == "knowledge" })
		if i < 0 || all[i]["state"] != "active" || all[i]["inline"] != true || all[i]["lag_events"] != 0.0 {
			t.Errorf("%v", all)
		}
	})
}
