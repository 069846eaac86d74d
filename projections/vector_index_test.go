package projections_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/vectors"
)

// inAnotherProcess is the same tenant in another process, which reads and embeds nothing.
func (w *world) inAnotherProcess() *world {
	w.t.Helper()
	other := *w
	var err error
	if other.base, err = projections.Open(w.t.Context(), w.db, projections.Settings{}); err != nil {
		w.t.Fatal(err)
	}
	return &other
}

// comesToFind searches until it finds just these, or some seconds have passed.
func (w *world) comesToFind(s domain.Search, want ...string) {
	w.t.Helper()
	var got []string
	for range 100 {
		got = w.find(s)
		slices.Sort(got)
		if slices.Equal(got, want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.t.Errorf("found %v, want %v", got, want)
}

func TestSketchesInMemoryFollowWhatOtherProcessesEmbed(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		if db.Engine == database.SQLite { // there is no other process
			return
		}
		w := newWorld(t, db, projections.Settings{})
		for _, more := range []int{0, 600} { // which is more than a search reads by the way
			w.in(fmt.Sprint("tenant-", more)).isFollowed(more)
		}
	})
}

func (w *world) isFollowed(more int) {
	w.remember("payment", "retry the payment call", "team:pay")
	w.remember("garden", "water the tomatoes", "team:pay")
	w.understand()
	other := w.inAnotherProcess()
	s := domain.Search{
		Vector: w.embed(embedding.Query, "paying once more")[0], MinScore: new(float64),
		Context: pay,
	}
	other.comesToFind(s, "garden", "payment")
	w.remember("new", "a card was declined", "team:pay")
	w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: "garden"}})
	content := "pay again when the call failed"
	w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "payment"}, Changes: domain.Revised{Content: &content}})
	w.fillFrom(0, more)
	w.understand()
	other.comesToFind(s, "new", "payment")
}

// fillFrom remembers as many items of somebody else's, by their numbers.
func (w *world) fillFrom(first, n int) {
	w.t.Helper()
	var commands []domain.Command
	for i := first; i < first+n; i++ {
		commands = append(commands, w.knowing(fmt.Sprint("more-", i), domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"org:acme"},
			Text: domain.Text{Content: fmt.Sprint("item ", i)},
		}))
	}
	w.submitAll(commands...)
}

// vectorsInMemory is how many of the tenant's vectors are in memory.
func (w *world) vectorsInMemory() int {
	return len(w.base.Models.Configured.Cache.Tenants[w.by.Tenant].Vectors)
}

func TestVectorsInMemoryAreForgottenWithWhatTheyAreOf(t *testing.T) {
	each(t, func(t *testing.T, here *world) {
		here.remember("payment", "retry the payment call", "team:pay")
		here.remember("garden", "water the tomatoes", "team:pay")
		here.understand()
		worlds := []*world{here}
		if here.db.Engine == database.Postgres {
			worlds = append(worlds, here.inAnotherProcess())
		}
		s := domain.Search{Vector: here.embed(embedding.Query, "paying once more")[0], MinScore: new(float64), Context: pay}
		for _, w := range worlds {
			before := w.find(s)
			if got := w.vectorsInMemory(); got != 2 {
				t.Errorf("%d vectors are in memory, want 2", got)
			}
			if after := w.find(s); !slices.Equal(before, after) {
				t.Errorf("found %v by what is in memory, and %v without", after, before)
			}
		}
		here.erase("garden")
		here.understand()
		for _, w := range worlds {
			w.comesToFind(s, "payment")
			w.until("its vector is forgotten", func() bool { w.find(s); return w.vectorsInMemory() == 1 })
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
		w, _ := served(t, db, projections.Settings{Embedder: choosy{tame: tame}})
		meaning := projections.Background{Followers: w.followers}
		readers := []*world{w}
		if db.Engine == database.Postgres {
			readers = append(readers, w.inAnotherProcess())
		}
		finds := func(what string, want ...string) {
			t.Helper()
			for _, reader := range readers {
				reader.comesToFind(domain.Search{
					Vector: w.embed(embedding.Query, "paying once more")[0], MinScore: new(float64),
					Context: pay,
				}, want...)
			}
			if t.Failed() {
				t.Fatalf("%s: not found by all %d", what, len(readers))
			}
		}

		w.remember("good", "retry the payment call", "team:pay")
		w.remember("left", "wild payments come in threes", "team:pay")
		w.remember("passed", "wild cards are declined", "team:pay")
		w.reads(3)
		finds("at first", "good")

		must(meaning.Skip(t.Context(), "meaning", w.by.Tenant, "knowledge:passed"))(t)
		tame.Store(true)
		if done, err := meaning.Replay(t.Context(), "meaning", w.by.Tenant, "knowledge:left"); err != nil || !done.Released {
			t.Fatalf("got %+v, %v, want it to be released", done, err)
		}
		finds("replayed", "good", "left")

		noError(t, meaning.ReplayAll(t.Context(), "meaning", w.by.Tenant))
		w.reads(3)
		finds("read again", "good", "left", "passed")
	})
}

// reads waits until the projection of vectors has read the log so far, whatever it passes over.
func (w *world) reads(position int64) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := w.followers.Await(ctx, w.base.Models.Configured.Name(), w.by.Tenant, position); err != nil {
		w.t.Fatal(fmt.Errorf("wait for position %d: %w", position, err))
	}
}

// rememberSketches drops all sketches in memory, and sets how many bytes of them are kept from now on.
func (w *world) rememberSketches(bytes int) {
	w.base.Models.Configured.Cache = vectors.NewIndexCache(bytes)
}

// sketchesOf is how many bytes a tenant's sketches take in memory: none if they are not there.
func (w *world) sketchesOf(tenant string) int {
	if entry := w.base.Models.Configured.Cache.Tenants[tenant]; entry != nil {
		return entry.Bytes
	}
	return 0
}

// tenantsInMemory are the tenants whose sketches are in memory.
func (w *world) tenantsInMemory() (tenants []string) {
	for tenant, entry := range w.base.Models.Configured.Cache.Tenants {
		if entry.Bytes > 0 {
			tenants = append(tenants, tenant)
		}
	}
	slices.Sort(tenants)
	return tenants
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
	ask("acme")
	w.rememberSketches(2 * w.sketchesOf("acme"))
	for _, tenant := range append(tenants, "coil", "acme") {
		ask(tenant)
	}
	equal(t, w.tenantsInMemory(), []string{"acme", "coil"}, "kept (-got +want)")

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
	equal(t, w.tenantsInMemory(), []string{"acme"}, "kept (-got +want)")
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
	for _, room := range []struct {
		bytes int
		want  []string
	}{{1 << 20, tenants}, {1, []string{"coil"}}} {
		w.rememberSketches(room.bytes)
		noError(t, w.base.Models.Configured.Cache.ReadAhead(t.Context(), w.base.Models.Configured))
		equal(t, w.tenantsInMemory(), room.want, "with room for %d bytes (-read +want)", room.bytes)
	}
}
