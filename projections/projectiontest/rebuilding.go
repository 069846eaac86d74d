package projectiontest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

// Rebuilding is a world with a rebuilder, which can be met at every stage.
type Rebuilding struct {
	*World
	Rebuilder *rebuild.Rebuilder
	stages    *stageHandler
	Clock     *movableClock
}

// EachRebuilding is [Each] with a rebuilder.
func EachRebuilding(t *testing.T, test func(t *testing.T, r *Rebuilding)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, NewRebuilding(t, db, projections.Settings{})) })
}

func NewRebuilding(t *testing.T, db *database.DB, settings projections.Settings) *Rebuilding {
	t.Helper()
	return NewRebuildingWith(t, db, settings, events.Options{})
}

func NewRebuildingWith(
	t *testing.T, db *database.DB, settings projections.Settings, options events.Options,
) *Rebuilding {
	t.Helper()
	r := &Rebuilding{stages: &stageHandler{Handler: databasetest.Log(t).Handler()}, Clock: &movableClock{}}
	settings.Logger, settings.Now = slog.New(r.stages), r.Clock.now
	r.World = NewWorldWith(t, db, settings, options)
	r.Rebuilder = rebuild.New(r.Base.Versions, r.Base.Models, r.Log, r.Followers)
	t.Cleanup(r.Rebuilder.Close)
	return r
}

// Run rebuilds and says what became of it.
func (r *Rebuilding) Run() domain.Rebuild {
	r.T.Helper()
	return r.RunFor(domain.RebuildOrder{})
}

func (r *Rebuilding) RunFor(order domain.RebuildOrder) domain.Rebuild {
	r.T.Helper()
	Must(r.Rebuilder.Start(r.T.Context(), order))(r.T)
	return r.Ended()
}

// Switches rebuilds, and wants what was built to be what readers read.
func (r *Rebuilding) Switches(order domain.RebuildOrder) domain.Rebuild {
	r.T.Helper()
	last := r.RunFor(order)
	r.IsActive(last, last.Version)
	return last
}

func (r *Rebuilding) IsActive(last domain.Rebuild, version int) {
	r.T.Helper()
	if last.State != "active" || last.Version != version {
		r.T.Fatalf("version %d is %s, want %d active: %s %+v", last.Version, last.State, version, last.Error, last.Report)
	}
}

func (r *Rebuilding) Ended() domain.Rebuild {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.T.Context(), 5*time.Minute)
	defer cancel()
	NoError(r.T, r.Rebuilder.Wait(ctx))
	return r.Last()
}

func (r *Rebuilding) Last() domain.Rebuild {
	r.T.Helper()
	last := Must(rebuild.Rebuilds{Rebuilder: r.Rebuilder}.Last(r.T.Context(), "knowledge"))(r.T)
	return last
}

// Corrupt changes tables behind everybody's back.
func (r *Rebuilding) Corrupt(statement string) {
	r.T.Helper()
	Report(r.T, Corrupt(r.T.Context(), r.DB, statement))
}

// stageHandler hears at which stage a rebuild is, before it begins to work on it.
type stageHandler struct {
	slog.Handler

	mu sync.Mutex
	at map[string]func(context.Context)
}

// At lets do happen when a rebuild enters a stage: building, indexing, catching_up, verifying, ready.
func (r *Rebuilding) At(stage string, do func()) {
	r.During(stage, func(context.Context) {
		if do != nil {
			do()
		}
	})
}

// During is At, with the context of the rebuild.
func (r *Rebuilding) During(stage string, do func(context.Context)) { r.stages.set(stage, do) }

func (h *stageHandler) set(stage string, do func(context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == nil {
		h.at = map[string]func(context.Context){}
	}
	h.at[stage] = do
}

func (h *stageHandler) Handle(ctx context.Context, record slog.Record) error {
	if record.Message == "rebuild" {
		record.Attrs(func(a slog.Attr) bool {
			if a.Key == "stage" {
				h.mu.Lock()
				do := h.at[a.Value.String()]
				h.mu.Unlock()
				if do != nil {
					do(ctx)
				}
			}
			return true
		})
	}
	return h.Handler.Handle(ctx, record)
}

func (h *stageHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.Handler.WithAttrs(attrs)
}

// movableClock shows the time, and some more.
type movableClock struct{ ahead atomic.Int64 }

func (c *movableClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *movableClock) Forward(d time.Duration) { c.ahead.Add(int64(d)) }

// Rebuild runs a rebuild to its end and gives the version that is active then.
func (w *World) Rebuild() int {
	w.T.Helper()
	rebuilder := rebuild.New(w.Base.Versions, w.Base.Models, w.Log, w.Followers)
	defer rebuilder.Close()
	progress := Must(rebuilder.Start(w.T.Context(), domain.RebuildOrder{}))(w.T)
	ctx, cancel := context.WithTimeout(w.T.Context(), 5*time.Minute)
	defer cancel()
	NoError(w.T, rebuilder.Wait(ctx))
	return progress.Version
}

func (w *World) Version() int {
	w.T.Helper()
	status := Must(w.Reader().Status(w.T.Context(), w.By.Tenant))(w.T)
	return status[0].Version
}

// Recorded is what the record says happened to the projection, and who did it.
func (w *World) Recorded() (story []string) {
	w.T.Helper()
	all := Must(w.Log.Reader.Stream(w.T.Context(), domain.SystemTenant, domain.ProjectionStream("knowledge")))(w.T)
	for _, event := range all {
		name := strings.TrimPrefix(event.Name, "projection.")
		data := string(event.Data)
		version := data[len(`{"version":`):strings.IndexAny(data, ",}")]
		story = append(story, fmt.Sprintf("%s %s by %s", name, version, event.Actor))
	}
	return story
}

// StagesOf are those of a version that the server reached by itself after it was begun.
func StagesOf(version int, stages ...string) (story []string) {
	for _, stage := range stages {
		story = append(story, fmt.Sprintf("%s %d by agent:annals", stage, version))
	}
	return story
}

// EachLived is [Each] in a world that has lived.
func EachLived(t *testing.T, test func(t *testing.T, r *Rebuilding)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, Lived(t, db)) })
}

// Lived is a world in which everything has happened that tables keep rows of.
func Lived(t *testing.T, db *database.DB) *Rebuilding {
	t.Helper()
	r := NewRebuilding(t, db, projections.Settings{})
	for i := range 12 {
		r.Remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d: retry payments with backoff", i), "team:pay", "public")
	}
	target := domain.Target{By: r.By, ID: "item-3"}
	r.Submit(domain.GiveFeedback{Target: target, Verdict: domain.Harmful, TraceID: "t1", Query: "how?"})
	r.Submit(domain.ReportStale{Target: target, Reason: "gone"})
	r.Submit(domain.Delete{Target: domain.Target{By: r.By, ID: "item-8"}})
	return r
}

// Erase destroys what people wrote about an item.
func (w *World) Erase(id string) domain.Receipt {
	w.T.Helper()
	command := Must(domain.Erase{Target: domain.Target{By: w.By, ID: id}}.Complete())(w.T)
	return w.Submit(command)
}

// States are the versions of knowledge that are there, with their states.
func (w *World) States() []string {
	w.T.Helper()
	all := Must(w.Reader().Status(w.T.Context(), w.By.Tenant))(w.T)
	var states []string
	for _, s := range all {
		if s.Name == "knowledge" {
			states = append(states, fmt.Sprint(s.Version, " ", s.State))
		}
	}
	return states
}

// TablesOf lists the tables of a version that are there.
func (r *Rebuilding) TablesOf(version int) []string {
	r.T.Helper()
	return slices.DeleteFunc(r.tables(), func(name string) bool {
		rest, found := strings.CutPrefix(name, fmt.Sprintf("knowledge_%d", version))
		return !found || rest != "" && rest[0] != '_'
	})
}

func (r *Rebuilding) PurgeAfter(d time.Duration) {
	r.T.Helper()
	r.Clock.Forward(d)
	NoError(r.T, r.Base.Versions.DropRetired(r.T.Context()))
}
