package projections_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/words"
)

// canary is a word that nothing else says.
const canary = "zorblaxquine"

// secret lets an item say the canary in every way: in each of its texts, in earlier ones, in votes and reports.
func (w *world) secret(id string) {
	w.t.Helper()
	w.tell(id, "viking://resources/"+canary+"/"+id)
}

// tell is secret with another URI.
func (w *world) tell(id, uri string) {
	w.t.Helper()
	content := "we call it " + canary + " now"
	w.know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay", domain.Public},
		Source:   domain.Source{Name: "the " + canary + " book", URLs: []string{"https://example.org/" + canary}},
		Baseline: &domain.Eval{Helpful: 1, HelpfulHistory: []domain.Use{{Query: "what is " + canary + "?"}}},
		Text: domain.Text{
			Task: "naming the " + canary, Content: "the " + canary + " was called something else before",
			Abstract: "a " + canary, Overview: "of the " + canary, Tags: domain.Tags{"labels": {canary}},
			Meta: []byte(`{"name":"` + canary + `"}`),
			URI:  uri,
		},
	})
	target := domain.Target{By: w.by, ID: id}
	w.submit(domain.GiveFeedback{
		Target: target, Verdict: domain.Helpful, TraceID: "t", Query: canary + "?",
		Outcome: canary + "!",
	})
	w.submit(domain.ReportStale{Target: target, Reason: canary + " moved"})
	w.submit(domain.Revise{Target: target, Changes: domain.Revised{Content: &content}})
}

// traces are the tables that hold the canary, or the hash of a text with it.
func (w *world) traces(texts ...string) (places []string) {
	w.t.Helper()
	wanted := [][]byte{[]byte(canary)}
	for _, term := range text.Terms(canary) { // as the index has it
		hash := words.HashOf(term)
		wanted = append(wanted, []byte(fmt.Sprint(hash)), binary.BigEndian.AppendUint64(nil, hash<<16)[:6])
	}
	for _, said := range texts {
		hash := sha256.Sum256([]byte(said))
		wanted = append(wanted, hash[:])
	}
	for _, table := range w.tables() {
		if w.holds(table, wanted) {
			places = append(places, table)
		}
	}
	slices.Sort(places)
	return places
}

func (w *world) holds(table string, wanted [][]byte) bool {
	w.t.Helper()
	for _, row := range w.table("SELECT * FROM ?", bun.Ident(table)) {
		for _, value := range row {
			raw, isBytes := value.([]byte)
			if !isBytes {
				raw = []byte(fmt.Sprint(value))
			}
			if slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Contains(raw, w) }) {
				return true
			}
		}
	}
	return false
}

// tables are the names of all tables.
func (w *world) tables() (names []string) {
	w.t.Helper()
	query := `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if w.db.Engine == database.Postgres {
		query = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	noError(w.t, w.db.NewRaw(query).Scan(w.t.Context(), &names))
	return names
}

// saidInSecret are the texts of the secret's pieces: what it said first, and what it says.
func saidInSecret() []string {
	before := "naming the " + canary + "\na " + canary + "\n"
	return []string{
		before + "the " + canary + " was called something else before",
		before + "we call it " + canary + " now",
	}
}

// knowAll lets the projections in the background read what is new.
func (w pastWorld) knowAll() {
	w.t.Helper()
	w.understand()
	w.readOn(3)
}

func TestErasingLeavesNoTraceInAnyTable(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		w.remember("other", "retry with jitter", "team:pay")
		w.secret("secret")
		w.knowAll()
		if got := w.traces(saidInSecret()...); len(got) < 6 {
			t.Fatalf("before the erasure only %v hold the canary", got)
		}
		before := must(w.log.Reader.Records(t.Context(), w.by.Tenant, 0, 0))(t)
		w.erase("secret")
		if got := w.traces(saidInSecret()...); got != nil {
			t.Errorf("%v hold the canary", got)
		}
		after := must(w.log.Reader.Records(t.Context(), w.by.Tenant, 0, len(before)))(t)
		for i := range before {
			if !bytes.Equal(before[i].Hash, after[i].Hash) || after[i].Position != before[i].Position {
				t.Errorf("position %d is another record", before[i].Position)
			}
		}
		w.knowAll()
		if got := w.traces(saidInSecret()...); got != nil {
			t.Errorf("%v hold the canary after all was read", got)
		}
		equal(t, folded(w.items()), w.stored(), "tables (-folded +stored)")
		if got := w.find(domain.Search{By: w.by, Text: canary, MinScore: new(float64)}); slices.Contains(got, "secret") {
			t.Errorf("found %v", got)
		}
		if got := w.itemsAt(3)["secret"]; got == nil || strings.Contains(got.Text.Content, canary) {
			t.Errorf("then it was %+v, want a tombstone", got)
		}
	})
}

// Two items that say the same share a vector.
func TestAVectorThatAnotherItemNeedsStays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("one", "retry payments with jitter", "team:pay")
		w.remember("two", "retry payments with jitter", "team:pay")
		w.understand()
		vectors := "SELECT count(*) FROM vectors_1"
		w.erase("one")
		w.counts(map[string]int{vectors: 1})
		w.understand()
		equal(t, w.nearest("retry payments with jitter", pay), []string{"two"}, "found (-got +want)")
		w.erase("two")
		w.counts(map[string]int{vectors: 0})
	})
}

// Vectors that were made of a text before it was erased are not written after.
func TestWhatWasReadBeforeIsNotWrittenAfter(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		var w *world
		told := make(chan struct{})
		model := &slowModel{meanwhile: func() { <-told; w.erase("secret") }}
		var stop func()
		w, stop = served(t, db, projections.Settings{Embedder: model})
		w.secret("secret")
		close(told)
		w.until("everything is read", func() bool { return w.lag() == 0 })
		if model.asked.Load() == 0 {
			t.Error("the model was not asked about the secret")
		}
		stop()
		if got := w.traces(saidInSecret()...); got != nil {
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
	if strings.Contains(strings.Join(texts, " "), canary) && m.asked.Add(1) == 1 {
		m.meanwhile()
	}
	return m.Builtin.Embed(ctx, texts, kind)
}

func TestWhatIsDestroyedWhileAVersionIsBuiltDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tell, destroy func(*rebuilding) }{
		"erased": {
			func(r *rebuilding) { r.secret("secret"); r.secret("another") }, // both without a URI in the end
			func(r *rebuilding) { r.erase("secret"); r.erase("another") },
		},
		"redacted": {
			func(r *rebuilding) { r.leak("secret") },
			func(r *rebuilding) {
				r.submit(domain.Revise{Target: domain.Target{By: r.by, ID: "secret"}, Scopes: []domain.Scope{"team:pay"}})
				r.redact("secret")
				r.remember("after", "what came after", "team:pay")
			},
		},
	} {
		for _, stage := range []string{"before", "building", "indexing", "catching_up", "verifying", "ready"} {
			t.Run(name+" "+stage, func(t *testing.T) {
				eachLived(t, func(t *testing.T, r *rebuilding) {
					c.tell(r)
					destroy := func() {
						c.destroy(r)
						if got := r.traces(); len(got) > 0 {
							t.Errorf("%v hold the canary", got)
						}
					}
					if r.at(stage, destroy); stage == "before" {
						destroy()
					}
					r.rebuiltWithoutTraces()
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
	db := databasetest.Open(t, databasetest.SQLite(t))
	noError(t, database.Migrate(t.Context(), db))
	r := lived(t, db)
	r.secret("secret")
	erased := false
	db.AddQueryHook(&afterQuery{text: `FROM "knowledge_2_changes" AS c WHERE (tenant = 'default') ORDER BY`, do: func() {
		r.erase("secret")
		erased = true
	}})
	r.rebuiltWithoutTraces()
	if !erased {
		t.Error("no items were read to be indexed")
	}
}

// rebuiltWithoutTraces rebuilds, and wants what the log says of everything, and nothing of the canary.
func (r *rebuilding) rebuiltWithoutTraces() {
	r.t.Helper()
	last := r.switches(domain.RebuildOrder{})
	if got := r.traces(); got != nil {
		r.t.Errorf("%v hold the canary", got)
	}
	for _, version := range []int{1, last.Version} {
		equal(r.t, folded(r.items()), r.storedIn(version), "tables of version %d (-folded +stored)", version)
	}
}

// A rebuild that failed lies there for a while, with what it had loaded.
func TestErasingReachesVersionsThatNobodyWrites(t *testing.T) {
	eachLived(t, func(t *testing.T, r *rebuilding) {
		r.secret("secret")
		r.at("verifying", func() { r.corrupt("UPDATE knowledge_2 SET helpful = 99 WHERE id = 'secret'") })
		r.run()
		if got := r.traces(); !slices.ContainsFunc(got, func(table string) bool {
			return strings.HasPrefix(table,
				"knowledge_2")
		}) {
			t.Fatalf("only %v hold the canary", got)
		}
		r.erase("secret")
		if got := r.traces(); got != nil {
			t.Errorf("%v hold the canary", got)
		}
	})
}
