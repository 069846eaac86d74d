package projectiontest

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

// PastWorld is a world whose past can be asked.
type PastWorld struct {
	*World
	Past *past.Projection
}

// EachPast is [Each] in a world whose past can be asked.
func EachPast(t *testing.T, test func(t *testing.T, w PastWorld)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, newPastWorld(t, db)) })
}

func newPastWorld(t *testing.T, db *database.DB) PastWorld {
	t.Helper()
	w := NewWorld(t, db, projections.Settings{})
	return PastWorld{w, w.Reader().Past}
}

// ReadOn lets the projection read what is new in the log, so many events at a time.
func (w PastWorld) ReadOn(size int) {
	w.T.Helper()
	for {
		position, eventID, _, err := w.Followers.Checkpoint(w.T.Context(), w.Past.Name(), w.By.Tenant)
		if err != nil {
			w.T.Fatal(err)
		}
		page := follow.Page{Tenant: w.By.Tenant, After: position, AfterID: eventID}
		if page.Events, err = w.Log.Reader.Read(w.T.Context(), w.By.Tenant, position, size); err != nil {
			w.T.Fatal(err)
		}
		if len(page.Events) == 0 {
			return
		}
		change := Must(w.Past.Prepare(w.T.Context(), page))(w.T)
		NoError(w.T, w.DB.Transact(w.T.Context(), func(ctx context.Context, tx bun.Tx) error {
			return errors.Join(change.Write(ctx, tx), w.Followers.Advance(ctx, tx, w.Past.Name(), page))
		}))
	}
}

func (w *World) Head() int64 {
	w.T.Helper()
	head, _, err := w.Log.Reader.Head(w.T.Context(), w.By.Tenant)
	if err != nil {
		w.T.Fatal(err)
	}
	return head
}

// PastTables is all that the projection has written.
func (w PastWorld) PastTables() map[string][]map[string]any {
	w.T.Helper()
	tables := map[string][]map[string]any{}
	for table, order := range map[string]string{
		"": "number, since", "_scopes": "scope, number, since", "_counts": "number, since",
		"_words": "number, since", "_pieces": "number, since, piece",
	} {
		name := string(w.Past.Tables.Items.Name) + table
		tables[table] = w.Table("SELECT * FROM "+name+" WHERE tenant = ? ORDER BY "+order, w.By.Tenant)
	}
	return tables
}
