package projectiontest

import (
	"context"
	"sync"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
)

// Served is a world whose projections of vectors follow the log by themselves, until stop.
func Served(t *testing.T, db *database.DB, settings projections.Settings) (w *World, stop func()) {
	t.Helper()
	return ServedWith(t, db, settings, events.Options{})
}

func ServedWith(
	t *testing.T, db *database.DB, settings projections.Settings, options events.Options,
) (w *World, stop func()) {
	t.Helper()
	settings.Logger = databasetest.Log(t)
	w = NewWorldWith(t, db, settings, options)
	router := Must(follow.NewRouter(databasetest.Log(t)))(t)
	w.Base.Models.FollowMeaning(router, w.Followers)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	working.Go(func() { w.Base.Models.MaintainModels(ctx) })
	working.Go(func() {
		Report(t, router.Run(ctx))
	})
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			Report(t, router.Close())
			working.Wait()
		})
	}
	t.Cleanup(stop)
	return w, stop
}

// Spaces are the spaces whose vectors are there, with their states, the one that is read first.
func (w *World) Spaces() []string {
	w.T.Helper()
	all := Must(w.Reader().Status(w.T.Context(), w.By.Tenant))(w.T)
	var list []string
	for _, p := range all {
		if p.Name == "meaning" {
			list = append(list, p.Settings["space"]+" "+p.State)
		}
	}
	return list
}

// Until waits for something to become true.
func (w *World) Until(what string, holds func() bool) {
	w.T.Helper()
	databasetest.Until(w.T, what, holds)
}

// Lag is how many events the projections of vectors have still to read, of two tenants.
func (w *World) Lag() (unread int64) {
	w.T.Helper()
	for _, meaning := range w.Base.Models.Meanings() {
		for _, a := range Must(events.SnapshotOf(w.DB).Ahead(w.T.Context(), meaning.Name()))(w.T) {
			unread += a.Events()
		}
	}
	return unread
}
