package vectors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/vectors"
)

// inAnotherProcess is the same tenant in another process, which reads and embeds nothing.
func inAnotherProcess(w *World) *World {
	w.T.Helper()
	other := *w
	var err error
	if other.Base, err = projections.Open(w.T.Context(), w.DB, projections.Settings{}); err != nil {
		w.T.Fatal(err)
	}
	return &other
}

// comesToFind searches until it finds just these.
func comesToFind(w *World, s domain.Search, want ...string) {
	w.T.Helper()
	databasetest.Until(w.T, fmt.Sprintf("%v are found", want), func() bool {
		return slices.Equal(slices.Sorted(slices.Values(w.Find(s))), want)
	})
}

func TestSketchesInMemoryFollowWhatOtherProcessesEmbed(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		if db.Engine == database.SQLite { // there is no other process
			return
		}
		w := NewWorld(t, db, projections.Settings{})
		for _, more := range []int{0, 600} { // which is more than a search reads by the way
			isFollowed(w.In(fmt.Sprint("tenant-", more)), more)
		}
	})
}

func isFollowed(w *World, more int) {
	w.Remember("payment", "retry the payment call", "team:pay")
	w.Remember("garden", "water the tomatoes", "team:pay")
	w.Understand()
	other := inAnotherProcess(w)
	s := domain.Search{
		Vector: w.Embed(embedding.Query, "paying once more")[0], MinScore: new(float64),
		Context: Pay,
	}
	comesToFind(other, s, "garden", "payment")
	w.Remember("new", "a card was declined", "team:pay")
	w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: "garden"}})
	content := "pay again when the call failed"
	w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "payment"}, Changes: domain.Revised{Content: &content}})
	w.FillFrom(0, more)
	w.Understand()
	comesToFind(other, s, "new", "payment")
}

// vectorsInMemory is how many of the tenant's vectors are in memory.
func vectorsInMemory(w *World) int {
	return len(w.Base.Models.Configured.Cache.Tenants[w.By.Tenant].Vectors)
}

func TestVectorsInMemoryAreForgottenWithWhatTheyAreOf(t *testing.T) {
	Each(t, func(t *testing.T, here *World) {
		here.Remember("payment", "retry the payment call", "team:pay")
		here.Remember("garden", "water the tomatoes", "team:pay")
		here.Understand()
		worlds := []*World{here}
		if here.DB.Engine == database.Postgres {
			worlds = append(worlds, inAnotherProcess(here))
		}
		s := domain.Search{Vector: here.Embed(embedding.Query, "paying once more")[0], MinScore: new(float64), Context: Pay}
		for _, w := range worlds {
			before := w.Find(s)
			if got := vectorsInMemory(w); got != 2 {
				t.Errorf("%d vectors are in memory, want 2", got)
			}
			if after := w.Find(s); !slices.Equal(before, after) {
				t.Errorf("found %v by what is in memory, and %v without", after, before)
			}
		}
		here.Erase("garden")
		here.Understand()
		for _, w := range worlds {
			comesToFind(w, s, "payment")
			w.Until("its vector is forgotten", func() bool { w.Find(s); return vectorsInMemory(w) == 1 })
		}
	})
}

// choosy is an embedder that does not take some texts, until it is told to.
type choosy struct {
	embedding.Builtin
	tame *atomic.Bool
}

func (c choosy) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	isWild := func(text string) bool { return strings.Contains(text, "wild") }
	if !c.tame.Load() && slices.ContainsFunc(texts, isWild) {
		return nil, embedding.ErrText
	}
	return c.Builtin.Embed(ctx, texts, kind)
}

// What lies in quarantine, or was skipped, is behind what the projection has read: taking it in later moves no
// checkpoint. It is found by its meaning all the same, in this process and in others that hold sketches.
func TestWhatIsTakenInLaterIsFoundWhereverSketchesAreHeld(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		tame := &atomic.Bool{}
		w, _ := Served(t, db, projections.Settings{Embedder: choosy{tame: tame}})
		meaning := projections.Background{Followers: w.Followers}
		readers := []*World{w}
		if db.Engine == database.Postgres {
			readers = append(readers, inAnotherProcess(w))
		}
		finds := func(what string, want ...string) {
			t.Helper()
			for _, reader := range readers {
				comesToFind(reader, domain.Search{
					Vector: w.Embed(embedding.Query, "paying once more")[0], MinScore: new(float64),
					Context: Pay,
				}, want...)
			}
			if t.Failed() {
				t.Fatalf("%s: not found by all %d", what, len(readers))
			}
		}

		w.Remember("good", "retry the payment call", "team:pay")
		w.Remember("left", "wild payments come in threes", "team:pay")
		w.Remember("passed", "wild cards are declined", "team:pay")
		reads(w, 3)
		finds("at first", "good")

		Must(meaning.Skip(t.Context(), "meaning", w.By.Tenant, "knowledge:passed"))(t)
		tame.Store(true)
		if done, err := meaning.Replay(t.Context(), "meaning", w.By.Tenant, "knowledge:left"); err != nil || !done.Released {
			t.Fatalf("got %+v, %v, want it to be released", done, err)
		}
		finds("replayed", "good", "left")

		NoError(t, meaning.ReplayAll(t.Context(), "meaning", w.By.Tenant))
		reads(w, 3)
		finds("read again", "good", "left", "passed")
	})
}

// reads waits until the projection of vectors has read the log so far, whatever it passes over.
func reads(w *World, position int64) {
	w.T.Helper()
	NoError(w.T, w.Followers.Await(w.T.Context(), w.Base.Models.Configured.Name(), w.By.Tenant, position))
}

// rememberSketches drops all sketches in memory, and sets how many bytes of them are kept from now on.
func rememberSketches(w *World, bytes int) {
	w.Base.Models.Configured.Cache = vectors.NewIndexCache(bytes)
}

// sketchesOf is how many bytes a tenant's sketches take in memory: none if they are not there.
func sketchesOf(w *World, tenant string) int {
	if entry := w.Base.Models.Configured.Cache.Tenants[tenant]; entry != nil {
		return entry.Bytes
	}
	return 0
}

// tenantsInMemory are the tenants whose sketches are in memory.
func tenantsInMemory(w *World) (tenants []string) {
	for tenant, entry := range w.Base.Models.Configured.Cache.Tenants {
		if entry.Bytes > 0 {
			tenants = append(tenants, tenant)
		}
	}
	slices.Sort(tenants)
	return tenants
}

// sketchMemory are how many sketches fit, and since when there are more, as an operator is told.
func sketchMemory(w *World) []string {
	w.T.Helper()
	for _, s := range Must(w.Reader().Status(w.T.Context(), "acme"))(w.T) {
		if s.Name == "meaning" {
			return []string{s.Settings["sketch_memory"], s.Settings["sketches_evicted"]}
		}
	}
	return nil
}

func TestOnlySomeTenantsSketchesAreKeptInMemory(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := NewWorld(t, db, projections.Settings{})
	tenants := []string{"acme", "bolt", "coil", "dyne"}
	for _, tenant := range tenants {
		there := w.In(tenant)
		there.Remember(tenant, "water the tomatoes in the garden", "team:pay")
		there.Understand()
	}
	ask := func(tenant string) {
		t.Helper()
		if got := w.In(tenant).Nearest("tomatoes want water", domain.Context{}); !slices.Contains(got, tenant) {
			t.Errorf("%s: found %v", tenant, got)
		}
	}
	ask("acme")
	rememberSketches(w, 2*sketchesOf(w, "acme"))
	for _, tenant := range append(tenants, "coil", "acme") {
		ask(tenant)
	}
	Equal(t, tenantsInMemory(w), []string{"acme", "coil"}, "kept (-got +want)")
	rememberSketches(w, 256<<20)
	Equal(t, sketchMemory(w), []string{"256 MB for 1,917,396 pieces", ""}, "while all fit (-got +want)")
	rememberSketches(w, 1)
	ask("acme")
	Equal(t, sketchMemory(w), []string{"0 MB for 0 pieces", "since the server started"}, "when they do not (-got +want)")
	rememberSketches(w, 2*sketchesOf(w, "acme"))
	ask("acme")

	// One that is not kept learns from the database what it missed, one that is kept learns at once.
	for _, tenant := range []string{"bolt", "acme"} {
		there := w.In(tenant)
		there.Remember("again", "tomatoes want water every morning", "team:pay")
		there.Understand()
		if got := there.Nearest("tomatoes want water", domain.Context{}); !slices.Contains(got, "again") {
			t.Errorf("%s: found %v", tenant, got)
		}
	}

	// One that is too large for the budget is kept as long as nobody else is asked.
	rememberSketches(w, 1)
	ask("acme")
	ask("acme")
	Equal(t, tenantsInMemory(w), []string{"acme"}, "kept (-got +want)")
}

func TestSketchesAreReadBeforeTheyAreSearchedFor(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := NewWorld(t, db, projections.Settings{})
	tenants := []string{"acme", "bolt", "coil"}
	for i, tenant := range tenants {
		there := w.In(tenant)
		for n := range i + 1 {
			there.Remember(fmt.Sprint("i", n), "water the tomatoes in the garden", "team:pay")
		}
		there.Understand()
	}
	for _, room := range []struct {
		bytes int
		want  []string
	}{{1 << 20, tenants}, {1, []string{"coil"}}} {
		rememberSketches(w, room.bytes)
		NoError(t, w.Base.Models.Configured.Cache.ReadAhead(t.Context(), w.Base.Models.Configured))
		Equal(t, tenantsInMemory(w), room.want, "with room for %d bytes (-read +want)", room.bytes)
	}
}
