package projections_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

// Whoever asks for a rebuild on a full disk is told so, and can ask again when there is room.
func TestARebuildThatADiskHasNoRoomForIsRefused(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t)) // a disk of PostgreSQL's cannot be filled from here
	noError(t, database.Migrate(t.Context(), db))
	r := newRebuilding(t, db, projections.Settings{})
	r.remember("item", "retry with backoff", "team:pay")
	room := func(pages string) {
		t.Helper()
		noError(t, db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, "PRAGMA max_page_count = "+pages)
			return err
		}))
	}
	room("1") // that is: no more than there are
	_, err := r.Start(t.Context(), domain.RebuildOrder{})
	told, is := errors.AsType[*domain.Refusal](err)
	if !is || !errors.Is(err, domain.ErrFull) || !errors.Is(err, database.ErrFull) || told.Fix == "" {
		t.Errorf("got %v", err)
	}
	room("1000000")
	r.isActive(r.run(), 2)
}
