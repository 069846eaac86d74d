package events_test

import (
	"context"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
)

func newLog(t *testing.T, db *database.DB, options events.Options) *events.Log {
	t.Helper()
	options.Logger = databasetest.Log(t)
	l := events.NewLog(db, logtest.Replay{}, options)
	t.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close log: %v", err)
		}
	})
	return l
}
