package follow

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/background"
)

const (
	// leaseLinger is how long an idle process keeps its lease. A process with occasional writes thus need not acquire
	// and release it each time.
	leaseLinger = time.Second
	// pollInterval is how often a process with pending work checks whether another one has released the lease.
	pollInterval = 250 * time.Millisecond
	// renewals is how often a lease is renewed within its lifetime.
	renewals = 3
)

// run works on the projection while there is work and no other process does it. Without appends it writes nothing:
// the lease is acquired when there is work, renewed during the work, and then released.
func (f *follower) run(ctx context.Context) {
	defer close(f.out)
	watcher, leave := f.followers.log.Watchers.WatchAll()
	defer leave()

	again := time.NewTimer(0)
	defer again.Stop()
	for {
		var tenants map[string]struct{} // nil: all that are behind
		select {
		case <-again.C:
		case <-watcher.Wake:
			tenants = watcher.Collect()
		case <-ctx.Done():
			return
		}
		pause, err := f.work(ctx, watcher, tenants)
		if err != nil && ctx.Err() == nil {
			f.followers.options.Logger.WarnContext(
				ctx, "could not look for work of a projection", "projection", f.projection, "error", err,
			)
			pause = f.followers.options.Poll
		}
		if pause > 0 {
			again.Reset(pause)
		}
	}
}

// work does the pending work. It returns the time until the next check; 0 for none.
func (f *follower) work(ctx context.Context, w *events.Watcher, tenants map[string]struct{}) (time.Duration, error) {
	now, err := f.followers.Lease(ctx, f.projection)
	if err != nil {
		return 0, err
	}
	if now.Held() {
		f.want(ctx, now)
		return min(now.Left, pollInterval), nil
	}
	// A notification may be stale: check the lag before taking the lease.
	behind, err := f.followers.behind(ctx, f.projection, tenants)
	if err != nil || len(behind) == 0 {
		return 0, err
	}
	tenants = map[string]struct{}{}
	for _, tenant := range behind {
		tenants[tenant] = struct{}{}
	}
	l, taken, err := f.followers.takeLease(ctx, f.projection)
	if err != nil || !taken {
		return pollInterval, err
	}
	return f.hold(ctx, &l, w, tenants), nil
}

// want asks the holder of a lease for it once a second while this process is idle.
func (f *follower) want(ctx context.Context, of Lease) {
	const often = time.Second
	idle := f.followers.log.Background().Idle() > often
	if idle && of.Holder != f.followers.db.InstanceID && time.Since(f.wanted) >= often {
		f.wanted = time.Now()
		f.followers.log.Watchers.Want(ctx, f.projection)
	}
}

// hold follows tenants until there was no work for a while, an idle process wants the lease of this busy one, the lease
// is lost, or ctx ends.
func (f *follower) hold(
	ctx context.Context, l *lease, w *events.Watcher, tenants map[string]struct{},
) (again time.Duration) {
	working, stop := context.WithCancel(ctx)
	defer f.release(ctx, l)
	work := newWork(working, f.follow)
	defer work.end()
	defer stop()
	for tenant := range tenants {
		work.begin(tenant)
	}
	every := f.followers.options.Lease / renewals
	renew := time.NewTicker(every)
	defer renew.Stop()
	wanted, leave := f.followers.log.Watchers.WatchWanted(f.projection)
	defer leave()
	var idle <-chan time.Time
	for {
		switch {
		case !work.none():
			idle = nil
		case idle == nil:
			idle = time.After(leaseLinger)
		}
		select {
		case <-w.Wake:
			for tenant := range w.Collect() {
				work.begin(tenant)
			}
		case tenant := <-work.finished:
			work.done(tenant)
		case <-renew.C:
			if !f.renew(working, l, every) {
				return pollInterval
			}
		case <-wanted:
			if f.followers.log.Background().Idle() < background.IdleTime {
				return 2 * pollInterval // the other process takes it meanwhile
			}
		case <-idle:
			return 0
		case <-working.Done():
			return pollInterval
		}
	}
}

// renew renews the lease. It returns false if the work must stop: the lease is lost, or it expired while the database
// was unavailable.
func (f *follower) renew(ctx context.Context, l *lease, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := l.renew(ctx)
	if err == nil {
		return true
	}
	lasts, level := !errors.Is(err, errLeaseLost) && time.Now().Before(l.until), slog.LevelWarn
	if lasts { // for example on a busy machine; the next renewal is in time
		level = slog.LevelInfo
	}
	f.followers.options.Logger.Log(ctx, level, "a lease was not renewed", "projection", f.projection, "error", err)
	return lasts
}

// release releases the lease, even after ctx has ended, unless another process has it. If the database is
// unavailable, the lease expires by itself.
func (f *follower) release(ctx context.Context, l *lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.followers.options.Lease/renewals)
	defer cancel()
	if err := l.release(ctx); err != nil && !errors.Is(err, errLeaseLost) {
		f.followers.options.Logger.InfoContext(
			ctx, "a lease was not released, and ends by itself", "projection", f.projection, "error", err,
		)
	}
}

// work is the set of tenants that are being followed, one goroutine each. Only the goroutine of run may use it.
type work struct {
	ctx      context.Context // ends when those goroutines must end
	follow   func(ctx context.Context, tenant string)
	finished chan string
	again    map[string]bool // tenants at work; true if they grew in the meantime
	running  sync.WaitGroup
}

func newWork(ctx context.Context, follow func(context.Context, string)) *work {
	return &work{ctx: ctx, follow: follow, finished: make(chan string), again: map[string]bool{}}
}

// begin follows a tenant. If it is being followed already, it is followed once more afterwards.
func (w *work) begin(tenant string) {
	if _, working := w.again[tenant]; working {
		w.again[tenant] = true
		return
	}
	w.again[tenant] = false
	w.running.Go(func() {
		w.follow(w.ctx, tenant)
		select {
		case w.finished <- tenant:
		case <-w.ctx.Done():
		}
	})
}

// done handles a tenant that was received from finished.
func (w *work) done(tenant string) {
	news := w.again[tenant]
	delete(w.again, tenant)
	if news {
		w.begin(tenant)
	}
}

func (w *work) none() bool { return len(w.again) == 0 }

// end waits for all goroutines after their context has ended.
func (w *work) end() { w.running.Wait() }
