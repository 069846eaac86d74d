package rebuild

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
)

// Rebuilder computes versions of the knowledge projection from the log, beside the active one, while clients go on.
// One rebuild runs at a time. It has no publisher, so that no side effect can happen twice. It is safe for concurrent
// use. Its owner closes it before the log.
type Rebuilder struct {
	Versions  *Versions
	models    *vectors.Models
	log       *events.Log
	followers *follow.Followers
	Logger    *slog.Logger

	SliceStreams, BatchRows int

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	runs sync.WaitGroup

	mu      sync.Mutex
	current *run
	renewed bool // the active version had this program's form, or a rebuild was begun because it had not
}

// New makes a rebuilder for versions and their log. From then on the log records changes of the versions.
func New(p *Versions, models *vectors.Models, log *events.Log, followers *follow.Followers) *Rebuilder {
	p.history.Store(log)
	ctx, stop := context.WithCancel(database.ForEveryTenant(context.Background()))
	return &Rebuilder{
		Versions: p, models: models, log: log, followers: followers, Logger: p.Log,
		SliceStreams: sliceStreams, BatchRows: catalogue.BatchRows(p.DB.Engine),
		ctx: ctx, stop: stop,
	}
}

// Close interrupts a running rebuild and waits for it. Resume continues it later.
func (r *Rebuilder) Close() {
	r.stop()
	r.runs.Wait()
}

// run is one rebuild in progress in this process.
type run struct {
	version catalogue.Version
	done    chan struct{}
	cancel  context.CancelCauseFunc
	began   time.Time

	mu       sync.Mutex
	progress domain.RebuildProgress
	entered  time.Time // when its phase began
	resumed  int64     // streams that were loaded before this run
}

// phaseIndexing is the second part of StateBuilding, when everything is loaded.
const phaseIndexing = "indexing"

// enter begins a phase.
func (r *run) enter(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Phase, r.entered = phase, time.Now()
}

// now is the progress, with the rate of its phase and an estimate of the time left. Verifying an item takes about as
// long as loading it.
func (r *run) now() domain.RebuildProgress {
	r.mu.Lock()
	defer r.mu.Unlock()
	progress, inPhase := r.progress, time.Since(r.entered)
	progress.Took = time.Since(r.began)
	var done, left int64
	switch progress.Phase {
	case catalogue.StateBuilding:
		done, left = progress.Streams-r.resumed, 2*progress.Total-progress.Streams
	case catalogue.StateVerifying:
		done, left = progress.Verified, progress.Total-progress.Verified
	}
	if done > 0 && inPhase >= time.Second { // before, the start of the phase counts for too much
		progress.Rate = float64(done) / inPhase.Seconds()
		progress.Left = time.Duration(float64(max(left, 0)) / progress.Rate * float64(time.Second))
	}
	return progress
}

// isSwitching tells whether the run is about to end. Its version may be served before it lets go of its lease.
func (r *run) isSwitching() bool {
	phase := r.now().Phase
	return phase == catalogue.StateReady || phase == catalogue.StateActive
}

func (r *run) note(change func(*domain.RebuildProgress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
}

// errCancelled ends a rebuild that was cancelled.
var errCancelled = errors.New("cancelled")

// cancellation is errCancelled with the principal that cancelled.
type cancellation struct {
	by     domain.Principal
	origin domain.Origin
}

func (cancellation) Error() string { return errCancelled.Error() }
func (cancellation) Unwrap() error { return errCancelled }

// Start begins a rebuild by an order, or continues the interrupted one, and returns at once. The error matches
// [domain.ErrConflict] if a rebuild is running, or if one for another order is interrupted. It is a [domain.Invalid]
// if the order names what this program does not know.
func (r *Rebuilder) Start(ctx context.Context, order domain.RebuildOrder) (domain.RebuildProgress, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.current != nil && r.current.isSwitching() {
		done := r.current.done
		r.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
		}
		r.mu.Lock()
		if ctx.Err() != nil {
			return domain.RebuildProgress{}, ctx.Err()
		}
	}
	if r.current != nil && r.Versions.Active().Tables.Differs && order == (domain.RebuildOrder{}) {
		return r.current.now(), nil // the server began it, because of the form
	}
	if r.current != nil {
		return domain.RebuildProgress{}, domain.Refuse(domain.ErrConflict, "version %d of knowledge is being built",
			r.current.version.Version).
			WithFix("wait for it, or cancel it")
	}
	taken, err := r.underLease(func() (catalogue.Version, bool, error) {
		v, err := r.Versions.begin(ctx, r.log, order)
		return v, err == nil, err
	})
	if err == nil && !taken {
		err = domain.Refuse(domain.ErrConflict, "another process is rebuilding knowledge").
			WithFix("wait for it, or cancel it")
	}
	if err != nil {
		return domain.RebuildProgress{}, err
	}
	return r.current.now(), nil
}

// Resume continues an interrupted rebuild, if there is one and no other process does. It abandons a what-if: its
// caller may be gone, and can ask again. If there is none, it begins one if the active version is in another form.
func (r *Rebuilder) Resume(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return nil
	}
	v, found, err := r.Versions.unfinished(ctx)
	if errors.Is(err, domain.ErrConflict) && !v.Unsupported && v.Settings[catalogue.SettingForm] != rows.Form {
		err = r.Versions.fail(ctx, v, errAbandoned) // an earlier release began it
	}
	if err == nil && !found {
		return r.renew(ctx)
	}
	if err != nil {
		return err
	}
	_, err = r.underLease(func() (catalogue.Version, bool, error) {
		v, found, err := r.Versions.unfinished(ctx) // the previous holder may have finished
		if err == nil && found && v.WhatIf() {
			return v, false, r.Versions.fail(ctx, v, errAbandoned)
		}
		return v, found, err
	})
	return err
}

// renew begins to build a version in this program's form, once, if the active one is in another. It leaves that alone
// if somebody went back to it.
func (r *Rebuilder) renew(ctx context.Context) error {
	p := r.Versions
	if err := p.Refresh(ctx); err != nil || r.renewed {
		return err
	}
	wentBack := slices.ContainsFunc(p.VersionSet.Load().Versions, func(v catalogue.Version) bool {
		return v.State == catalogue.StateStandby && !v.Unsupported && !v.Tables.Differs
	})
	if r.renewed = wentBack || !p.Active().Tables.Differs; r.renewed {
		return nil
	}
	if err := (Rebuilds{r}).fits(ctx, catalogue.KnowledgeName, domain.RebuildOrder{}); err != nil {
		return fmt.Errorf("the tables of knowledge have another form, which is still served: %w", err)
	}
	p.Log.InfoContext(ctx, "the tables of knowledge have another form, which is served until they are rebuilt",
		"version", p.Active().Version, "changed", p.Active().Tables.Changed)
	taken, err := r.underLease(func() (catalogue.Version, bool, error) {
		v, err := p.begin(ctx, r.log, domain.RebuildOrder{})
		return v, err == nil, err
	})
	r.renewed = taken
	return err
}

// leaseName names the lease that a process holds while it rebuilds. The lease only saves work: each step is recorded
// in the transaction that does it, so that it happens once, even if two processes try it.
const leaseName = "rebuild"

// RebuildWork marks the database sessions of a rebuild.
const RebuildWork = "annals.rebuilding"

// underLease takes the lease, lets begin choose a version, and builds it in the background. It does nothing if
// another process holds the lease. The caller holds mu.
func (r *Rebuilder) underLease(begin func() (v catalogue.Version, found bool, err error)) (taken bool, err error) {
	began := make(chan *run, 1) // is closed if there is nothing to build
	r.runs.Go(func() {
		var now *run
		leased := r.followers.RunExclusively(r.ctx, leaseName, func(ctx context.Context) error {
			taken = true
			var v catalogue.Version
			var found bool
			if err = terminateOthers(ctx, r.Versions.Catalogue); err == nil { // undo the previous holder's unfinished step
				v, found, err = begin()
			}
			if err != nil || !found {
				return nil
			}
			working, cancel := context.WithCancelCause(database.ForWork(ctx, RebuildWork))
			now = &run{
				version: v, done: make(chan struct{}), cancel: cancel, began: time.Now(),
				progress: domain.RebuildProgress{Projection: catalogue.KnowledgeName, Version: v.Version, Phase: v.State},
			}
			began <- now
			result := r.buildUntilCancelled(working, now)
			if result != nil && ctx.Err() != nil { // the program ends, or another process has taken the lease over
				result = errors.Join(errInterrupted, result)
			}
			r.finish(now, result)
			return nil
		})
		if now == nil {
			if err == nil && leased != nil {
				err = rows.Failed(r.ctx, "lease the rebuild", leased)
			}
			close(began)
			return
		}
		r.mu.Lock()
		r.current = nil
		r.mu.Unlock()
		close(now.done)
	})
	r.current = <-began
	return taken, err
}

// terminateOthers ends the sessions of a process that is in the middle of a step of a rebuild.
func terminateOthers(ctx context.Context, p *catalogue.Catalogue) error {
	ended, err := p.DB.EndWork(ctx, RebuildWork)
	if ended > 0 {
		p.Log.WarnContext(ctx, "another process was in the middle of a step of a rebuild, which was undone",
			"sessions", ended)
	}
	return err
}

// errInterrupted ends a run whose rebuild may be resumed, by any process.
var errInterrupted = errors.New("interrupted")

// watchInterval is how often a run checks whether another process has abandoned its version.
const watchInterval = 2 * time.Second

// buildUntilCancelled builds a version until the run is cancelled, or another process abandons the version.
func (r *Rebuilder) buildUntilCancelled(ctx context.Context, now *run) error {
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-time.After(watchInterval):
			case <-ctx.Done():
				return
			}
			state, err := r.Versions.state(ctx, r.Versions.DB, now.version)
			if err == nil && (state == catalogue.StateRetired || state == catalogue.StateFailed) {
				now.cancel(fmt.Errorf("version %d is %s: %w", now.version.Version, state, catalogue.ErrMoved))
			}
		}
	})
	err := r.build(ctx, now)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // rather than the error of the interrupted step
	}
	now.cancel(nil)
	watching.Wait()
	return err
}

// finish records how a rebuild ended. An interrupted one keeps its state.
func (r *Rebuilder) finish(now *run, err error) {
	logger := r.Logger.With("projection", catalogue.KnowledgeName, "version", now.version.Version)
	switch {
	case err == nil:
		return
	case errors.Is(err, catalogue.ErrMoved):
		logger.Warn("another process has abandoned the rebuild", "error", err)
		return
	case errors.Is(err, errInterrupted), errors.Is(err, database.ErrUnavailable):
		logger.Warn("rebuild interrupted; a resume continues it", "error", err)
		return
	case errors.Is(err, errCancelled):
		logger.Info("rebuild cancelled")
	default:
		logger.Error("rebuild failed", "error", err)
	}
	ctx, cancel := context.WithTimeout(database.ForEveryTenant(context.Background()), time.Minute)
	defer cancel()
	if c, ok := errors.AsType[cancellation](err); ok {
		ctx = domain.WithCaller(ctx, c.by, c.origin)
	}
	if err := r.Versions.fail(ctx, now.version, err); err != nil && !errors.Is(err, catalogue.ErrMoved) {
		logger.Error("a version could not be abandoned; the next resume tries again", "error", err)
	}
}

// build takes a version through its stages, beginning with the current one.
func (r *Rebuilder) build(ctx context.Context, now *run) error {
	p, v := r.Versions, now.version
	if err := now.count(ctx, p); err != nil {
		return err
	}
	for {
		state, err := p.state(ctx, p.DB, v)
		if err != nil {
			return err
		}
		now.enter(state)
		r.Logger.InfoContext(ctx, "rebuild", "projection", catalogue.KnowledgeName, "version", v.Version, "stage", state)
		switch state {
		case catalogue.StateBuilding:
			err = r.load(ctx, now)
		case catalogue.StateCatching:
			err = r.catchUp(ctx, now)
		case catalogue.StateVerifying:
			err = r.verify(ctx, now)
		case catalogue.StateReady:
			if err = repairStates(ctx, p, r.log, v); err == nil {
				err = p.swap(ctx, v.Version, catalogue.StateReady)
			}
		case catalogue.StateActive, catalogue.StateStandby, catalogue.StateFailed: // done, or its entry says why it failed
			return nil
		case catalogue.StateRetired:
			if v.WhatIf() { // it was compared and is not needed any more
				return nil
			}
			return fmt.Errorf("version %d is %s: %w", v.Version, state, catalogue.ErrMoved)
		default:
			return fmt.Errorf("version %d is %s: %w", v.Version, state, catalogue.ErrMoved)
		}
		// Another process moved it on, or an earlier attempt whose COMMIT was not answered.
		if err != nil && !errors.Is(err, catalogue.ErrMoved) {
			return fmt.Errorf("%s: %w", state, err)
		}
	}
}

// Cancel abandons a rebuild, whichever process and release began it. The next [Versions.DropRetired] drops its
// tables. The error matches [domain.ErrNotFound] if there is none, and [domain.ErrConflict] if it has finished.
func (r *Rebuilder) Cancel(ctx context.Context) error {
	r.mu.Lock()
	now := r.current
	r.mu.Unlock()
	if now != nil {
		by, origin := domain.CallerOf(ctx)
		now.cancel(cancellation{by, origin})
		<-now.done
	}
	var e catalogue.Entry // of any release
	found, err := r.Versions.newestIn(ctx, &e, catalogue.UnfinishedStates...)
	if err != nil {
		return err
	}
	if found {
		if now == nil { // a step in another process may take minutes, and holds locks that fail needs
			if err := terminateOthers(ctx, r.Versions.Catalogue); err != nil {
				return err
			}
		}
		err = r.Versions.fail(ctx, catalogue.Version{Entry: e}, errCancelled)
		if !errors.Is(err, catalogue.ErrMoved) {
			return err
		}
	}
	if now == nil && !found {
		return domain.Refuse(domain.ErrNotFound, "no rebuild of knowledge is running").
			WithFix("annals rebuild knowledge --status says what became of the last one")
	}
	if now != nil {
		e = now.version.Entry
	}
	state, err := r.Versions.state(ctx, r.Versions.DB, catalogue.Version{Entry: e})
	if err == nil && state == catalogue.StateActive {
		err = domain.Refuse(domain.ErrConflict, "version %d is active already", e.Version).WithFix("roll back")
	}
	return err
}

// Progress is the progress of the running rebuild; false if there is none.
func (r *Rebuilder) Progress() (domain.RebuildProgress, bool) {
	r.mu.Lock()
	now := r.current
	r.mu.Unlock()
	if now == nil {
		return domain.RebuildProgress{}, false
	}
	return now.now(), true
}

// Wait returns when no rebuild is running in this process.
func (r *Rebuilder) Wait(ctx context.Context) error {
	r.mu.Lock()
	now := r.current
	r.mu.Unlock()
	if now == nil {
		return nil
	}
	select {
	case <-now.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// repairStates computes the states of other streams again (keys, sessions, scrubbing rules) where they differ from
// the log, if the order asks for a repair. States have a single version, so they are written in place.
func repairStates(ctx context.Context, p *Versions, log *events.Log, v catalogue.Version) error {
	if v.Settings[catalogue.SettingRepair] == "" {
		return nil
	}
	tenants, err := tenantsWithStreams(ctx, p.DB)
	if err != nil {
		return rows.Failed(ctx, "list tenants", err)
	}
	for _, tenant := range tenants {
		wrong, err := events.SnapshotOf(p.DB).CheckStates(ctx, tenant)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			continue
		}
		if err := log.RepairStates(ctx, tenant, wrong); err != nil {
			return rows.Failed(ctx, "repair streams", err)
		}
		p.Log.WarnContext(ctx, "states of streams differed from the log and are computed again",
			"tenant", tenant, "streams", len(wrong))
	}
	return nil
}
