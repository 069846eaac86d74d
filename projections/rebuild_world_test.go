package projections_test

import (
	"context"
	"log/slog"
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

// rebuilding is a world with a rebuilder, which can be met at every stage.
type rebuilding struct {
	*world
	*rebuild.Rebuilder
	stages *stageHandler
	clock  *movableClock
}

// eachRebuilding is each with a rebuilder.
func eachRebuilding(t *testing.T, test func(t *testing.T, r *rebuilding)) {
	t.Helper()
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(t, newRebuilding(t, db, projections.Settings{})) })
}

func newRebuilding(t *testing.T, db *database.DB, settings projections.Settings) *rebuilding {
	t.Helper()
	return newRebuildingWith(t, db, settings, events.Options{})
}

func newRebuildingWith(
	t *testing.T, db *database.DB, settings projections.Settings, options events.Options,
) *rebuilding {
	t.Helper()
	r := &rebuilding{stages: &stageHandler{Handler: databasetest.Log(t).Handler()}, clock: &movableClock{}}
	settings.Logger, settings.Now = slog.New(r.stages), r.clock.now
	r.world = newWorldWith(t, db, settings, options)
	r.Rebuilder = rebuild.New(r.base.Versions, r.base.Models, r.log, r.followers)
	t.Cleanup(r.Close)
	return r
}

// run rebuilds and says what became of it.
func (r *rebuilding) run() domain.Rebuild {
	r.t.Helper()
	return r.runFor(domain.RebuildOrder{})
}

func (r *rebuilding) runFor(order domain.RebuildOrder) domain.Rebuild {
	r.t.Helper()
	must(r.Start(r.t.Context(), order))(r.t)
	return r.ended()
}

// switches rebuilds, and wants what was built to be what readers read.
func (r *rebuilding) switches(order domain.RebuildOrder) domain.Rebuild {
	r.t.Helper()
	last := r.runFor(order)
	r.isActive(last, last.Version)
	return last
}

func (r *rebuilding) isActive(last domain.Rebuild, version int) {
	r.t.Helper()
	if last.State != "active" || last.Version != version {
		r.t.Fatalf("version %d is %s, want %d active: %s %+v", last.Version, last.State, version, last.Error, last.Report)
	}
}

func (r *rebuilding) ended() domain.Rebuild {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Minute)
	defer cancel()
	noError(r.t, r.Wait(ctx))
	return r.last()
}

func (r *rebuilding) last() domain.Rebuild {
	r.t.Helper()
	last := must(rebuild.Rebuilds{Rebuilder: r.Rebuilder}.Last(r.t.Context(), "knowledge"))(r.t)
	return last
}

// corrupt changes tables behind everybody's back.
func (r *rebuilding) corrupt(statement string) {
	r.t.Helper()
	report(r.t, corrupt(r.t.Context(), r.db, statement))
}

// stageHandler hears at which stage a rebuild is, before it begins to work on it.
type stageHandler struct {
	slog.Handler

	mu sync.Mutex
	at map[string]func(context.Context)
}

// at lets do happen when a rebuild enters a stage: building, indexing, catching_up, verifying, ready.
func (r *rebuilding) at(stage string, do func()) {
	r.during(stage, func(context.Context) {
		if do != nil {
			do()
		}
	})
}

// during is at, with the context of the rebuild.
func (r *rebuilding) during(stage string, do func(context.Context)) { r.stages.set(stage, do) }

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

func (c *movableClock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *movableClock) forward(d time.Duration) { c.ahead.Add(int64(d)) }
