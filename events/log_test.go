package events_test

import (
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
)

func TestLogKeepsItsPromises(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(*testing.T, *database.DB) events.Inline { return logtest.Replay{} })
}
