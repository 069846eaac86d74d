package rebuild

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
)

// Rebuilder computes versions of the knowledge projection anew from the log, beside the active one,
// while everybody keeps working. One rebuild runs at a time. It is handed no publisher: no side
// effect can happen twice. It is safe for concurrent use; whoever made it closes it, before the log.
type Rebuilder struct {
	Versions *Versions
	models   *vectors.Models
	log      *events.Log
	Logger   *slog.Logger
	Batch    *catalogue.Batches

	SliceStreams  int
	LeaseDuration time.Duration

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	runs sync.WaitGroup

	mu      sync.Mutex
	current *run
}

// New makes a rebuilder for versions and their log. From then on the log records what happens to them.
func New(p *Versions, models *vectors.Models, log *events.Log) *Rebuilder {
	p.history.Store(log)
	ctx, stop := context.WithCancel(database.ForEveryTenant(context.Background()))
	return &Rebuilder{
		Versions: p, models: models, log: log, Logger: p.Log, Batch: catalogue.NewBatches(p.DB.Engine), SliceStreams: sliceStreams, LeaseDuration: leaseDuration,
		ctx: ctx, stop: stop,
	}
}

// Close interrupts a running rebuild, which goes on when it is resumed, and waits for it.
func (r *Rebuilder) Close() {
	r.stop()
	r.runs.Wait()
}

// run is one rebuild at work in this process.
type run struct {
	version catalogue.Version
	lease   *lease
	done    chan struct{}
	cancel  context.CancelCauseFunc
	began   time.Time

	mu       sync.Mutex
	progress domain.RebuildProgress
	entered  time.Time // when its phase began
	resumed  int64     // streams that another process had loaded before
}

// phaseIndexing is the second half of building: everything is loaded.
const phaseIndexing = "indexing"

// enter notes that a phase begins.
func (r *run) enter(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Phase, r.entered = phase, time.Now()
}

// now is the progress, with how fast its phase works and an estimate of the time left. To verify an item takes
// about as long as to load it.
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

func (r *run) note(change func(*domain.RebuildProgress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
}

// errCancelled ends a rebuild that somebody does not want any more.
var errCancelled = errors.New("cancelled")

// cancellation is errCancelled with who wants it.
type cancellation struct {
	by     domain.Principal
	origin domain.Origin
}

func (cancellation) Error() string { return errCancelled.Error() }
func (cancellation) Unwrap() error { return errCancelled }

// Start begins a rebuild by an order, or goes on with the one that was interrupted. It returns at once.
// The error matches [domain.ErrConflict] if one is running, or if another waits to go on, and is a
// [domain.Invalid] if the order names what this program does not know.
func (r *Rebuilder) Start(ctx context.Context, order domain.RebuildOrder) (domain.RebuildProgress, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return domain.RebuildProgress{}, domain.Refuse(domain.ErrConflict, "version %d of knowledge is being built", r.current.version.Version).
			WithFix("wait for it, or cancel it")
	}
	claim, err := r.acquireLease(ctx)
	if err != nil {
		return domain.RebuildProgress{}, err
	}
	if claim == nil {
		return domain.RebuildProgress{}, domain.Refuse(domain.ErrConflict, "another process is rebuilding knowledge").
			WithFix("wait for it, or cancel it")
	}
	v, err := r.Versions.begin(ctx, r.log, order)
	if err != nil {
		claim.release()
		return domain.RebuildProgress{}, err
	}
	return r.start(v, claim), nil
}

// Resume goes on with a rebuild that was interrupted, if there is one and no other process does. A
// what-if is not gone on with: nobody may be waiting for it any more, and it can be asked again.
func (r *Rebuilder) Resume(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return nil
	}
	_, found, err := r.Versions.unfinished(ctx)
	if err != nil || !found {
		return err
	}
	claim, err := r.acquireLease(ctx)
	if err != nil || claim == nil {
		return err
	}
	v, found, err := r.Versions.unfinished(ctx) // the previous holder may have finished
	if err == nil && found && v.WhatIf() {
		err, found = r.Versions.fail(ctx, v, errAbandoned), false
	}
	if err != nil || !found {
		claim.release()
		return err
	}
	r.start(v, claim)
	return nil
}

func (r *Rebuilder) start(v catalogue.Version, claim *lease) domain.RebuildProgress {
	ctx, cancel := context.WithCancelCause(database.ForWork(r.ctx, RebuildWork))
	now := &run{version: v, lease: claim, done: make(chan struct{}), cancel: cancel, began: time.Now()}
	now.progress = domain.RebuildProgress{Projection: catalogue.KnowledgeName, Version: v.Version, Phase: v.State}
	r.current = now
	r.runs.Go(func() {
		defer close(now.done)
		var guard sync.WaitGroup
		guard.Go(func() { r.watchLease(ctx, now) })
		err := r.build(ctx, now)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause // and not what became of whatever was under way
		}
		cancel(nil)
		guard.Wait()
		r.finish(now, err)
	})
	return now.progress
}

// finish notes how a rebuild ended, and only then lets another begin. One that was only interrupted
// stays as it is.
func (r *Rebuilder) finish(now *run, err error) {
	defer func() {
		now.lease.release()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.current = nil
	}()
	logger := r.Logger.With("projection", catalogue.KnowledgeName, "version", now.version.Version)
	switch {
	case err == nil:
		return
	case errors.Is(err, catalogue.ErrMoved):
		logger.Warn("rebuild given up elsewhere", "error", err)
		return
	case r.isResumable(err):
		logger.Warn("rebuild interrupted; it goes on when it is resumed", "error", err)
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
		logger.Error("a version was not given up; resuming it will try again", "error", err)
	}
}

// build takes a version through its stages, from the one it is in.
func (r *Rebuilder) build(ctx context.Context, now *run) error {
	p, v := r.Versions, now.version
	if err := r.count(ctx, now); err != nil {
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
			if err = r.repairStates(ctx, v); err == nil {
				err = p.swap(ctx, v.Version, catalogue.StateReady)
			}
		case catalogue.StateActive, catalogue.StateDraining, catalogue.StateFailed: // done; or its entry says why not
			return nil
		case catalogue.StateRetired:
			if v.WhatIf() { // seen, and done with
				return nil
			}
			return fmt.Errorf("version %d is %s: %w", v.Version, state, catalogue.ErrMoved)
		default:
			return fmt.Errorf("version %d is %s: %w", v.Version, state, catalogue.ErrMoved)
		}
		// Moved on without us: by an attempt before, whose COMMIT nobody answered, or by another process.
		if err != nil && !errors.Is(err, catalogue.ErrMoved) {
			return fmt.Errorf("%s: %w", state, err)
		}
	}
}

// Cancel gives a rebuild up, whichever process and release began it; what it has built goes with the
// next [Versions.Sweep]. The error matches [domain.ErrNotFound] if there is none, and
// [domain.ErrConflict] if it was done before.
func (r *Rebuilder) Cancel(ctx context.Context) error {
	r.mu.Lock()
	now := r.current
	r.mu.Unlock()
	if now != nil {
		by, origin := domain.CallerOf(ctx)
		now.cancel(cancellation{by, origin})
		<-now.done
	}
	var e catalogue.Entry // whoever began it: what another release builds can be given up, too
	found, err := r.Versions.newestIn(ctx, &e, catalogue.UnfinishedStates...)
	if err != nil {
		return err
	}
	if found {
		if now == nil { // a step under way elsewhere may take minutes, and holds what giving up needs
			if err := r.terminateOthers(ctx); err != nil {
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

// Progress is how far the running rebuild has come; false if there is none.
func (r *Rebuilder) Progress() (domain.RebuildProgress, bool) {
	r.mu.Lock()
	now := r.current
	r.mu.Unlock()
	if now == nil {
		return domain.RebuildProgress{}, false
	}
	return now.now(), true
}

// Wait returns when no rebuild is running in this process any more.
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

// repairStates computes again what is kept about streams of other things than knowledge (keys, sessions, rules for
// scrubbing) where it is not what the log says, if the rebuild is to repair. There is one version of that, so
// it is written where it is read.
func (r *Rebuilder) repairStates(ctx context.Context, v catalogue.Version) error {
	if v.Settings[catalogue.SettingRepair] == "" {
		return nil
	}
	p := r.Versions
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
		if err := r.log.RepairStates(ctx, tenant, wrong); err != nil {
			return rows.Failed(ctx, "mend streams", err)
		}
		r.Logger.WarnContext(ctx, "what was kept about streams was not what the log says, and is computed again",
			"tenant", tenant, "streams", len(wrong))
	}
	return nil
}
