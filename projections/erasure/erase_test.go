package erasure_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// saidInSecret are the texts of the secret's pieces: what it said first, and what it says.
func saidInSecret() []string {
	before := "naming the " + Canary + "\na " + Canary + "\n"
	return []string{
		before + "the " + Canary + " was called something else before",
		before + "we call it " + Canary + " now",
	}
}

// knowAll lets the projections in the background read what is new.
func knowAll(w PastWorld) {
	w.T.Helper()
	w.Understand()
	w.ReadOn(3)
}

func TestErasingLeavesNoTraceInAnyTable(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		w.Remember("other", "retry with jitter", "team:pay")
		w.Secret("secret")
		knowAll(w)
		if got := w.Traces(saidInSecret()...); len(got) < 6 {
			t.Fatalf("before the erasure only %v hold the canary", got)
		}
		before := Must(w.Log.Reader.Records(t.Context(), w.By.Tenant, 0, 0))(t)
		w.Erase("secret")
		if got := w.Traces(saidInSecret()...); got != nil {
			t.Errorf("%v hold the canary", got)
		}
		after := Must(w.Log.Reader.Records(t.Context(), w.By.Tenant, 0, len(before)))(t)
		for i := range before {
			if !bytes.Equal(before[i].Hash, after[i].Hash) || after[i].Position != before[i].Position {
				t.Errorf("position %d is another record", before[i].Position)
			}
		}
		knowAll(w)
		if got := w.Traces(saidInSecret()...); got != nil {
			t.Errorf("%v hold the canary after all was read", got)
		}
		Equal(t, Folded(w.Items()), w.Stored(), "tables (-folded +stored)")
		if got := w.Find(domain.Search{By: w.By, Text: Canary, MinScore: new(float64)}); slices.Contains(got, "secret") {
			t.Errorf("found %v", got)
		}
		if got := w.ItemsAt(3)["secret"]; got == nil || strings.Contains(got.Text.Content, Canary) {
			t.Errorf("then it was %+v, want a tombstone", got)
		}
	})
}

// Two items that say the same share a vector.
func TestAVectorThatAnotherItemNeedsStays(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("one", "retry payments with jitter", "team:pay")
		w.Remember("two", "retry payments with jitter", "team:pay")
		w.Understand()
		vectors := "SELECT count(*) FROM vectors_1"
		w.Erase("one")
		counts(w, map[string]int{vectors: 1})
		w.Understand()
		Equal(t, w.Nearest("retry payments with jitter", Pay), []string{"two"}, "found (-got +want)")
		w.Erase("two")
		counts(w, map[string]int{vectors: 0})
	})
}

// Vectors that were made of a text before it was erased are not written after.
func TestWhatWasReadBeforeIsNotWrittenAfter(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		var w *World
		told := make(chan struct{})
		model := &slowModel{meanwhile: func() { <-told; w.Erase("secret") }}
		var stop func()
		w, stop = Served(t, db, projections.Settings{Embedder: model})
		w.Secret("secret")
		close(told)
		w.Until("everything is read", func() bool { return w.Lag() == 0 })
		if model.asked.Load() == 0 {
			t.Error("the model was not asked about the secret")
		}
		stop()
		if got := w.Traces(saidInSecret()...); got != nil {
			t.Errorf("%v hold the canary", got)
		}
	})
}

// slowModel lets something happen while it is asked for the first time about the canary.
type slowModel struct {
	embedding.Builtin

	meanwhile func()
	asked     atomic.Int64
}

func (m *slowModel) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if strings.Contains(strings.Join(texts, " "), Canary) && m.asked.Add(1) == 1 {
		m.meanwhile()
	}
	return m.Builtin.Embed(ctx, texts, kind)
}

func TestWhatIsDestroyedWhileAVersionIsBuiltDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tell, destroy func(*Rebuilding) }{
		"erased": {
			func(r *Rebuilding) { r.Secret("secret"); r.Secret("another") }, // both without a URI in the end
			func(r *Rebuilding) { r.Erase("secret"); r.Erase("another") },
		},
		"redacted": {
			func(r *Rebuilding) { r.Leak("secret") },
			func(r *Rebuilding) {
				r.Submit(domain.Revise{Target: domain.Target{By: r.By, ID: "secret"}, Scopes: []domain.Scope{"team:pay"}})
				r.Redact("secret")
				r.Remember("after", "what came after", "team:pay")
			},
		},
	} {
		for _, stage := range []string{"before", "building", "indexing", "catching_up", "verifying", "ready"} {
			t.Run(name+" "+stage, func(t *testing.T) {
				t.Parallel()
				databasetest.Either(t, func(t *testing.T, db *database.DB) {
					r := Lived(t, db)
					c.tell(r)
					destroy := func() {
						c.destroy(r)
						if got := r.Traces(); len(got) > 0 {
							t.Errorf("%v hold the canary", got)
						}
					}
					if r.At(stage, destroy); stage == "before" {
						destroy()
					}
					rebuiltWithoutTraces(r)
				})
			})
		}
	}
}

// afterQuery does something once, after a query that contains a text.
type afterQuery struct {
	text string
	do   func()
	once sync.Once
}

func (h *afterQuery) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (h *afterQuery) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	if strings.Contains(event.Query, h.text) {
		h.once.Do(h.do)
	}
}

func TestErasingWhileSQLiteIndexesWordsBringsNothingBack(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	r := Lived(t, db)
	r.Secret("secret")
	erased := false
	db.AddQueryHook(&afterQuery{text: `FROM "knowledge_2_changes" AS c WHERE (tenant = 'default') ORDER BY`, do: func() {
		r.Erase("secret")
		erased = true
	}})
	rebuiltWithoutTraces(r)
	if !erased {
		t.Error("no items were read to be indexed")
	}
}

// rebuiltWithoutTraces rebuilds, and wants what the log says of everything, and nothing of the canary.
func rebuiltWithoutTraces(r *Rebuilding) {
	r.T.Helper()
	last := r.Switches(domain.RebuildOrder{})
	if got := r.Traces(); got != nil {
		r.T.Errorf("%v hold the canary", got)
	}
	for _, version := range []int{1, last.Version} {
		Equal(r.T, Folded(r.Items()), r.StoredIn(version), "tables of version %d (-folded +stored)", version)
	}
}

// A rebuild that failed lies there for a while, with what it had loaded.
func TestErasingReachesVersionsThatNobodyWrites(t *testing.T) {
	EachLived(t, func(t *testing.T, r *Rebuilding) {
		r.Secret("secret")
		r.At("verifying", func() { r.Corrupt("UPDATE knowledge_2 SET helpful = 99 WHERE id = 'secret'") })
		r.Run()
		if got := r.Traces(); !slices.ContainsFunc(got, func(table string) bool {
			return strings.HasPrefix(table,
				"knowledge_2")
		}) {
			t.Fatalf("only %v hold the canary", got)
		}
		r.Erase("secret")
		if got := r.Traces(); got != nil {
			t.Errorf("%v hold the canary", got)
		}
	})
}
