package events_test

import (
	"context"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

func newLog(t *testing.T, db *database.DB, options events.Options) *events.Log {
	t.Helper()
	options.Logger = databasetest.Log(t)
	l := events.NewLog(db, inline(t, db), options)
	t.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close log: %v", err)
		}
	})
	return l
}

// inline is the projection that is written with the log.
func inline(t *testing.T, db *database.DB) events.Inline {
	t.Helper()
	knowledge, err := projections.Open(database.ForEveryTenant(t.Context()), db, projections.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return knowledge.Projection
}
