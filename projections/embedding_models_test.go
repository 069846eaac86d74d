package projections_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
)

// served is a world whose projections of vectors follow the log by themselves, until stop.
func served(t *testing.T, db *database.DB, settings projections.Settings) (w *world, stop func()) {
	t.Helper()
	return servedWith(t, db, settings, events.Options{})
}

func servedWith(
	t *testing.T, db *database.DB, settings projections.Settings, options events.Options,
) (w *world, stop func()) {
	t.Helper()
	settings.Logger = databasetest.Log(t)
	w = newWorldWith(t, db, settings, options)
	router := must(follow.NewRouter(databasetest.Log(t)))(t)
	w.base.Models.FollowMeaning(router, w.followers)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { w.base.Models.MaintainModels(ctx) })
	working.Go(func() {
		report(t, router.Run(ctx))
	})
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			report(t, router.Close())
			working.Wait()
		})
	}
	t.Cleanup(stop)
	return w, stop
}

// spaces are the spaces whose vectors are there, with their states, the one that is read first.
func (w *world) spaces() []string {
	w.t.Helper()
	all := must(w.reader().Status(w.t.Context(), w.by.Tenant))(w.t)
	var list []string
	for _, p := range all {
		if p.Name == "meaning" {
			list = append(list, p.Settings["space"]+" "+p.State)
		}
	}
	return list
}

// until waits for something to become true.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within a minute and a half; the spaces are %q", what, w.spaces())
		}
	}
}

// lag is how many events the projection of the configured embedder has still to read, of two tenants.
func (w *world) lag() (unread int64) {
	w.t.Helper()
	ahead := must(events.SnapshotOf(w.db).Ahead(w.t.Context(), w.base.Models.Configured.Name()))(w.t)
	for _, a := range ahead {
		unread += a.Events()
	}
	return unread
}
