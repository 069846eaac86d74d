package projections_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/vectors"
)

// sketches are those that a process of SQLite keeps in memory.
func (w *world) sketches() *vectors.MemoryNearest {
	return w.base.Meaning().Nearest.(*vectors.MemoryNearest)
}

// rememberSketches drops all sketches in memory, and sets how many bytes of them are kept from now on.
func (w *world) rememberSketches(bytes int) { w.sketches().Cache = vectors.NewIndexCache(bytes) }

// sketchesOf is how many bytes a tenant's sketches take in memory: none if they are not there.
func (w *world) sketchesOf(tenant string) int {
	if entry := w.sketches().Cache.Tenants[tenant]; entry != nil {
		return entry.Bytes
	}
	return 0
}

func TestOnlySomeTenantsSketchesAreKeptInMemory(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	noError(t, database.Migrate(t.Context(), db))
	w := newWorld(t, db, projections.Settings{})
	tenants := []string{"acme", "bolt", "coil", "dyne"}
	for _, tenant := range tenants {
		there := w.in(tenant)
		there.remember(tenant, "water the tomatoes in the garden", "team:pay")
		there.understand()
	}
	ask := func(tenant string) {
		t.Helper()
		if got := w.in(tenant).nearest("tomatoes want water", domain.Context{}); !slices.Contains(got, tenant) {
			t.Errorf("%s: found %v", tenant, got)
		}
	}
	kept := func() (kept []string) {
		for _, tenant := range tenants {
			if w.sketchesOf(tenant) > 0 {
				kept = append(kept, tenant)
			}
		}
		return kept
	}

	ask("acme")
	w.rememberSketches(2 * w.sketchesOf("acme"))
	for _, tenant := range append(tenants, "coil", "acme") {
		ask(tenant)
	}
	equal(t, kept(), []string{"acme", "coil"}, "kept (-got +want)")

	// One that is not kept learns from the database what it missed, one that is kept learns at once.
	for _, tenant := range []string{"bolt", "acme"} {
		there := w.in(tenant)
		there.remember("again", "tomatoes want water every morning", "team:pay")
		there.understand()
		if got := there.nearest("tomatoes want water", domain.Context{}); !slices.Contains(got, "again") {
			t.Errorf("%s: found %v", tenant, got)
		}
	}

	// One that is too large for the budget is kept as long as nobody else is asked.
	w.rememberSketches(1)
	ask("acme")
	ask("acme")
	equal(t, kept(), []string{"acme"}, "kept (-got +want)")
}

func TestSketchesAreReadBeforeTheyAreSearchedFor(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.SQLite(t))
	noError(t, database.Migrate(t.Context(), db))
	w := newWorld(t, db, projections.Settings{})
	tenants := []string{"acme", "bolt", "coil"}
	for i, tenant := range tenants {
		there := w.in(tenant)
		for n := range i + 1 {
			there.remember(fmt.Sprint("i", n), "water the tomatoes in the garden", "team:pay")
		}
		there.understand()
	}
	held := func() (held []string) {
		for _, tenant := range tenants {
			if w.sketchesOf(tenant) > 0 {
				held = append(held, tenant)
			}
		}
		return held
	}
	for _, room := range []struct {
		bytes int
		want  []string
	}{{1 << 20, tenants}, {1, []string{"coil"}}} {
		w.rememberSketches(room.bytes)
		noError(t, w.sketches().Cache.ReadAhead(t.Context(), w.base.Meaning()))
		equal(t, held(), room.want, "with room for %d bytes (-read +want)", room.bytes)
	}

	// Whoever no longer waits for them has not asked in vain.
	w.rememberSketches(1 << 20)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.sketches().Sketches(gone, "acme"); err != nil || len(held()) != 1 {
		t.Errorf("read %v, %v", held(), err)
	}
}
