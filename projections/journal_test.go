package projections_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

// SQLite's journal begins anew only while nobody reads: a rebuild that always reads would fill the disk.
func TestARebuildLetsTheJournalBeginAnew(t *testing.T) {
	t.Parallel()
	url := databasetest.SQLite(t)
	db := databasetest.Open(t, url)
	noError(t, database.Migrate(t.Context(), db))
	w := newWorld(t, db, projections.Settings{})
	var all []domain.Command
	for i := range 2000 {
		var said strings.Builder
		for word := range 60 {
			fmt.Fprintf(&said, "w%d ", (i*37+word*101)%4000)
		}
		all = append(all, w.knowing(fmt.Sprint("item-", i), domain.Remembered{
			Type: domain.Strategy, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{Content: said.String()},
		}))
	}
	w.submitAll(all...)
	// Otherwise nothing here is large enough for it to begin anew.
	noError(t, corrupt(t.Context(), db, "PRAGMA wal_autocheckpoint = 100"))
	w.rebuild()
	if got := w.version(); got != 2 {
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
	info := must(os.Stat(file))(t)
	return info.Size()
}
