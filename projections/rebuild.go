package projections

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
)

// Rebuilder computes versions of the knowledge projection anew from the log, beside the active one,
// while everybody keeps working. One rebuild runs at a time. It is handed no publisher: no side
// effect can happen twice. It is safe for concurrent use; whoever made it closes it, before the log.
type Rebuilder struct {
	knowledge *Knowledge
	log       *events.Log
	logger    *slog.Logger

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	runs sync.WaitGroup

	mu      sync.Mutex
	current *run
}

// NewRebuilder makes a rebuilder for a projection and its log.
func NewRebuilder(p *Knowledge, log *events.Log) *Rebuilder {
	ctx, stop := context.WithCancel(context.Background())
	return &Rebuilder{knowledge: p, log: log, logger: p.log, ctx: ctx, stop: stop}
}

// Close interrupts a running rebuild, which goes on when it is resumed, and waits for it.
func (r *Rebuilder) Close() {
	r.stop()
	r.runs.Wait()
}

// run is one rebuild at work in this process.
type run struct {
	version version
	done    chan struct{}
	cancel  context.CancelCauseFunc
	began   time.Time

	mu       sync.Mutex
	progress domain.RebuildProgress
	pace     pace
}

func (r *run) note(change func(*domain.RebuildProgress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
}

// errCancelled ends a rebuild that somebody does not want any more.
var errCancelled = errors.New("cancelled")

// Start begins a rebuild with what this program would build today, or goes on with the one that was
// interrupted. It returns at once. The error matches [domain.ErrConflict] if one is running, or if an
// earlier one waits for its end.
func (r *Rebuilder) Start(ctx context.Context) (domain.RebuildProgress, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return domain.RebuildProgress{}, domain.Refuse(domain.ErrConflict, "version %d of knowledge is being built", r.current.version.Version).
			WithFix("wait for it, or cancel it")
	}
	release, claimed, err := r.knowledge.claim(ctx)
	if err != nil {
		return domain.RebuildProgress{}, err
	}
	if !claimed {
		return domain.RebuildProgress{}, domain.Refuse(domain.ErrConflict, "another process is rebuilding knowledge").
			WithFix("wait for it, or cancel it")
	}
	v, err := r.knowledge.begin(ctx, r.log)
	if err != nil {
		release()
		return domain.RebuildProgress{}, err
	}
	return r.start(v, release), nil
}

// Resume goes on with a rebuild that was interrupted, if there is one and no other process does.
func (r *Rebuilder) Resume(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return nil
	}
	_, found, err := r.knowledge.unfinished(ctx)
	if err != nil || !found {
		return err
	}
	release, claimed, err := r.knowledge.claim(ctx)
	if err != nil || !claimed {
		return err
	}
	v, found, err := r.knowledge.unfinished(ctx) // whoever had the claim may have finished
	if err != nil || !found {
		release()
		return err
	}
	r.start(v, release)
	return nil
}

func (r *Rebuilder) start(v version, release func()) domain.RebuildProgress {
	ctx, cancel := context.WithCancelCause(r.ctx)
	now := &run{version: v, done: make(chan struct{}), cancel: cancel, began: time.Now()}
	now.progress = domain.RebuildProgress{Projection: knowledgeName, Version: v.Version, Phase: v.State}
	r.current = now
	r.runs.Go(func() {
		defer close(now.done)
		defer cancel(nil)
		err := r.build(ctx, now)
		if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCancelled) {
			err = cause // and not what became of whatever was under way
		}
		r.finish(now, err, release)
	})
	return now.progress
}

// finish notes how a rebuild ended, and only then lets another begin. One that was only interrupted
// stays as it is.
func (r *Rebuilder) finish(now *run, err error, release func()) {
	defer func() {
		release()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.current = nil
	}()
	switch {
	case err == nil || r.ctx.Err() != nil:
		return
	case errors.Is(err, database.ErrUnavailable) || errors.Is(err, domain.ErrUnavailable):
		r.logger.Warn("rebuild interrupted; it goes on when the database is back",
			"projection", knowledgeName, "version", now.version.Version, "error", err)
		return
	case errors.Is(err, errCancelled):
		r.logger.Info("rebuild cancelled", "projection", knowledgeName, "version", now.version.Version)
	default:
		r.logger.Error("rebuild failed", "projection", knowledgeName, "version", now.version.Version, "error", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if dropErr := r.knowledge.fail(ctx, now.version, err); dropErr != nil {
		r.logger.Error("a failed version could not be dropped", "version", now.version.Version, "error", dropErr)
	}
}

// build takes a version through its stages, from the one it is in.
func (r *Rebuilder) build(ctx context.Context, now *run) error {
	p, v := r.knowledge, now.version
	for {
		state, err := p.state(ctx, v)
		if err != nil {
			return err
		}
		now.enter(state)
		r.logger.InfoContext(ctx, "rebuild", "projection", knowledgeName, "version", v.Version, "stage", state)
		switch state {
		case stateBuilding:
			err = r.load(ctx, now)
		case stateCatching:
			err = r.catchUp(ctx, now)
		case stateVerifying:
			err = r.verify(ctx, now)
		case stateReady:
			return p.Switch(ctx, v.Version)
		case stateFailed:
			return nil // its report says why
		default:
			return fmt.Errorf("version %d is %s: %w", v.Version, state, errCancelled)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", state, err)
		}
	}
}

// Cancel gives a rebuild up and drops what it has built. The error matches [domain.ErrNotFound] if
// there is none.
func (r *Rebuilder) Cancel(ctx context.Context) error {
	r.mu.Lock()
	now := r.current
	r.mu.Unlock()
	if now != nil {
		now.cancel(errCancelled)
		<-now.done
	}
	v, found, err := r.knowledge.unfinished(ctx)
	switch {
	case err != nil:
		return err
	case found:
		return r.knowledge.fail(ctx, v, errCancelled)
	case now == nil:
		return domain.Refuse(domain.ErrNotFound, "no rebuild of knowledge is running")
	}
	return nil
}

// Progress is how far the running rebuild has come; false if there is none.
func (r *Rebuilder) Progress() (domain.RebuildProgress, bool) {
	r.mu.Lock()
	now := r.current
	r.mu.Unlock()
	if now == nil {
		return domain.RebuildProgress{}, false
	}
	now.mu.Lock()
	defer now.mu.Unlock()
	return now.pace.estimate(now.progress, time.Since(now.began), time.Since(now.pace.entered)), true
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
