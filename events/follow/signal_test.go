package follow_test

import (
	"context"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
)

// twoServers are two logs on one database, each with connections of its own. They never look for what the other one
// appends.
func twoServers(t *testing.T) (dbs [2]*database.DB, logs [2]*events.Log, followers [2]*follow.Followers) {
	t.Helper()
	address := databasetest.Migrated(t, database.Postgres)
	for i := range dbs {
		dbs[i] = databasetest.Open(t, address)
		logs[i], followers[i] = newLog(t, dbs[i], events.Options{Poll: time.Hour, Lease: time.Hour})
	}
	return dbs, logs, followers
}

func TestWhoWaitsWakesTheProcessThatWorks(t *testing.T) {
	t.Parallel()
	dbs, logs, followers := twoServers(t)
	e := newEffects(t, dbs[0], "effects")
	handle(t, followers[0], "p", e.handle)
	logtest.Remember(t, logs[1], "acme", 0, 1)
	databasetest.Until(t, "the other process has worked", func() bool { // the first signal may come before it listens
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return followers[1].Await(ctx, "p", "acme", 1) == nil
	})
}

func TestABusyProcessLeavesItsWorkToAnIdleOne(t *testing.T) {
	t.Parallel()
	dbs, logs, followers := twoServers(t)
	e := newEffects(t, dbs[1], "effects")
	began := make(chan struct{}, 1)
	run(t, func(router *message.Router) {
		follow.AddPreparer(router, followers[0], "p", func(ctx context.Context, _ follow.Page) (follow.Change, error) {
			select {
			case began <- struct{}{}:
			default:
			}
			<-ctx.Done() // it does not get on
			return nil, ctx.Err()
		})
	})
	defer logs[0].Background().Command()()
	logtest.Remember(t, logs[0], "acme", 0, 1)
	<-began
	handle(t, followers[1], "p", e.handle)
	e.reach(t, followers[1], dbs[1], "p", "acme", 1)
}
