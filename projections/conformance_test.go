package projections_test

import (
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections"
)

func TestALogKeepsItsPromisesWithTheKnowledgeTable(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(t *testing.T, db *database.DB) events.Inline {
		base := must(projections.Open(t.Context(), db, projections.Settings{}))(t)
		return base
	})
}
