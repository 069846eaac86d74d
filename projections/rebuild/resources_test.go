package rebuild_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// Whoever asks for a rebuild on a full disk is told so, and can ask again when there is room.
func TestARebuildThatADiskHasNoRoomForIsRefused(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite)) // a disk of PostgreSQL's cannot be filled from here
	r := NewRebuilding(t, db, projections.Settings{})
	r.Remember("item", "retry with backoff", "team:pay")
	room := func(pages string) {
		t.Helper()
		NoError(t, db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, "PRAGMA max_page_count = "+pages)
			return err
		}))
	}
	room("1") // that is: no more than there are
	_, err := r.Rebuilder.Start(t.Context(), domain.RebuildOrder{})
	told, is := errors.AsType[*domain.Refusal](err)
	if !is || !errors.Is(err, domain.ErrFull) || !errors.Is(err, database.ErrFull) || told.Fix == "" {
		t.Errorf("got %v", err)
	}
	room("1000000")
	r.IsActive(r.Run(), 2)
}

// SQLite's journal begins anew only while nobody reads: a rebuild that always reads would fill the disk.
func TestARebuildLetsTheJournalBeginAnew(t *testing.T) {
	t.Parallel()
	url := databasetest.Migrated(t, database.SQLite)
	db := databasetest.Open(t, url)
	w := NewWorld(t, db, projections.Settings{})
	var all []domain.Command
	for i := range 2000 {
		var said strings.Builder
		for word := range 60 {
			fmt.Fprintf(&said, "w%d ", (i*37+word*101)%4000)
		}
		all = append(all, w.Knowing(fmt.Sprint("item-", i), domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{Content: said.String()},
		}))
	}
	w.SubmitAll(all...)
	// Otherwise nothing here is large enough for it to begin anew.
	NoError(t, Corrupt(t.Context(), db, "PRAGMA wal_autocheckpoint = 100"))
	w.Rebuild()
	if got := w.Version(); got != 2 {
		t.Fatalf("version %d is active", got)
	}
	file := strings.TrimPrefix(url, "sqlite:")
	whole, journal := sizeOf(t, file), sizeOf(t, file+"-wal")
	if journal > 5*whole {
		t.Errorf("the journal has %d bytes, and the database %d", journal, whole)
	}
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	info := Must(os.Stat(file))(t)
	return info.Size()
}

func TestAnOperatorChoosesTheMemoryForIndexes(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"": "512MB", "&maintenance_work_mem=32MB": "32MB"} {
		db := databasetest.Open(t, databasetest.Migrated(t, database.Postgres)+setting)
		r := NewRebuilding(t, db, projections.Settings{})
		_, err := db.NewRaw(`
			CREATE TABLE seen (memory text);
			CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS
				$$ BEGIN INSERT INTO public.seen VALUES (current_setting('maintenance_work_mem')); END $$;
			CREATE EVENT TRIGGER see ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION see()`).Exec(t.Context())
		NoError(t, err)
		r.IsActive(r.Run(), 2)
		var got []string
		NoError(t, db.NewRaw("SELECT DISTINCT memory FROM seen").Scan(t.Context(), &got))
		Equal(t, got, []string{want}, "the memory with %q (-got +want)", setting)
	}
}
