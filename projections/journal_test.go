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
	if err := database.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, db, projections.Settings{})
	var all []domain.Submission
	for i := range 2000 {
		var said strings.Builder
		for word := range 60 {
			fmt.Fprintf(&said, "w%d ", (i*37+word*101)%4000)
		}
		all = append(all, domain.Submission{By: w.by, Command: w.complete(domain.Remember{
			By: w.by, ID: fmt.Sprint("item-", i), Knowledge: domain.Remembered{
				Type: domain.Strategy, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
				Text: domain.Text{Content: said.String()},
			},
		})})
	}
	for _, result := range w.log.SubmitAll(t.Context(), all) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	// Otherwise nothing here is large enough for it to begin anew.
	if err := corrupt(t.Context(), db, "PRAGMA wal_autocheckpoint = 100"); err != nil {
		t.Fatal(err)
	}
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
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
