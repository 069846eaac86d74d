package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
)

func TestAFullDiskRefusesWritesAndLosesNothing(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := newWorld(t, db, events.Options{}, nil)
	w.remember("before", "rivers carry sand")
	w.growTo(w.pages() + 50)

	kept, refused := []string{"before"}, ""
	for i := 0; refused == ""; i++ {
		id := fmt.Sprintf("large-%d", i)
		switch got := w.ask("POST", "/v1/knowledge", item(id, strings.Repeat("sand ", 4000))); {
		case got.status == http.StatusCreated && i < 50:
			kept = append(kept, id)
		default:
			got.want(http.StatusInsufficientStorage)
			if p := got.json(); p["type"] != "urn:annals:problem:full" || p["fix"] == nil || got.header.Get("Retry-After") == "" {
				t.Errorf("%v %s", got.header, got.body)
			}
			refused = id
		}
	}
	lines := w.ask("POST", "/v1/knowledge", []object{item(refused, strings.Repeat("x", 60_000)), item("second", "x")}).lines()
	like(t, lines, []any{object{"error": object{"status": http.StatusInsufficientStorage}}, object{}}, "many at once")

	// What was accepted is there, of what was refused there is nothing.
	for _, id := range kept {
		w.ask("GET", "/v1/knowledge/"+id, nil).want(http.StatusOK)
	}
	w.ask("GET", "/v1/knowledge/"+refused, nil).want(http.StatusNotFound)
	same(t, len(w.ask("GET", "/v1/events?limit=100", nil).items()), len(kept))
	same(t, len(w.ask("POST", "/v1/search", object{"query": "rivers"}).want(http.StatusOK).items()), 1)

	w.growTo(w.pages() + 5_000)
	w.remember(refused, "there is room again")
}

// pages are how large the file of a SQLite database is.
func (w *world) pages() (count int) {
	w.t.Helper()
	if err := w.db.NewRaw(`PRAGMA page_count`).Scan(w.t.Context(), &count); err != nil {
		w.t.Fatal(err)
	}
	return count
}

// growTo lets the file become so large and no larger, as a disk would.
func (w *world) growTo(pages int) {
	w.t.Helper()
	servertest.Execute(w.t, w.db, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
}
