package quotas

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// What was counted once is not counted again, nor forgotten.
func TestTheWritesOfADayAreCountedOnce(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		ctx := database.ForEveryTenant(t.Context())
		base, err := projections.Open(ctx, db, projections.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		log := events.NewLog(db, base.Projection, events.Options{Selection: base.Browser, Logger: databasetest.Log(t)})
		t.Cleanup(func() { _ = log.Close(ctx) })
		by := domain.Principal{Tenant: domain.DefaultTenant, Subject: "user:ann", Authentication: "key:a", Role: domain.Member}
		k := New(db, Limits{"key:*": {Writes: 9}}, base.Versions.ActiveIn, prometheus.NewRegistry(), databasetest.Log(t))
		for n, id := range []string{"a", "b", "c"} {
			command, err := domain.Remember{By: by, ID: id, Knowledge: domain.Remembered{
				Class: domain.Class{Type: domain.Strategy}, Text: domain.Text{Content: "lesson " + id},
			}}.Complete()
			if err == nil {
				_, err = log.Submit(ctx, domain.Submission{By: by, Command: command})
			}
			if err == nil {
				err = k.read(ctx, db, by.Tenant, time.Now())
			}
			if err == nil && n == 1 { // nothing was written since
				err = k.read(ctx, db, by.Tenant, time.Now())
			}
			if err != nil {
				t.Fatal(err)
			}
			held := k.tenants[by.Tenant].held
			of, want := held["tenant:default"], int64(n+1)
			if of.Items != want || of.Writes != want || held["key:a"].Writes != want {
				t.Errorf("after %d items: %+v", want, held)
			}
		}
	})
}
