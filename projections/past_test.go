package projections_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/past"
)

// pastWorld is a world whose past can be asked.
type pastWorld struct {
	*world
	past *past.Projection
}

// eachPast is each in a world whose past can be asked.
func eachPast(t *testing.T, test func(t *testing.T, w pastWorld)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, newPastWorld(t, db)) })
}

func newPastWorld(t *testing.T, db *database.DB) pastWorld {
	t.Helper()
	w := newWorld(t, db, projections.Settings{})
	return pastWorld{w, w.reader().Past}
}

// readOn lets the projection read what is new in the log, so many events at a time.
func (w pastWorld) readOn(size int) {
	w.t.Helper()
	for {
		position, eventID, _, err := w.followers.Checkpoint(w.t.Context(), w.past.Name(), w.by.Tenant)
		if err != nil {
			w.t.Fatal(err)
		}
		page := follow.Page{Tenant: w.by.Tenant, After: position, AfterID: eventID}
		if page.Events, err = w.log.Reader.Read(w.t.Context(), w.by.Tenant, position, size); err != nil {
			w.t.Fatal(err)
		}
		if len(page.Events) == 0 {
			return
		}
		change := must(w.past.Prepare(w.t.Context(), page))(w.t)
		noError(w.t, w.db.Transact(w.t.Context(), func(ctx context.Context, tx bun.Tx) error {
			return errors.Join(change.Write(ctx, tx), w.followers.Advance(ctx, tx, w.past.Name(), page))
		}))
	}
}
