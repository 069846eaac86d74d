package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	acquireRebuildLock = "SELECT pg_try_advisory_lock(hashtextextended('annals.rebuild', 0))"
	checkRebuildLock   = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
	releaseRebuildLock = "SELECT pg_advisory_unlock(hashtextextended('annals.rebuild', 0))"
)

// RebuildWork is what the transactions of a rebuild belong to.
const RebuildWork = "annals.rebuilding"

// leaseDuration is for how long a process may be held up before another one goes on with its rebuild.
const leaseDuration = 10 * time.Second

// lease is one process's right to work on a rebuild, kept by a connection: it ends when it is
// released, with the process, however that ends, or when the process has not been heard of for a while,
// by the server's clock. What it saves is work. Should two processes be at it, since a connection can be
// lost unnoticed for a while, then every step still happens once: each is taken in the transaction that
// does it.
type lease struct {
	pool *bun.DB // of this connection alone; nil on SQLite, whose file belongs to one process
	conn bun.Conn
}

// acquireLease returns nil if another process has the lease. What one left undone that had it before is undone.
func (r *Rebuilder) acquireLease(ctx context.Context) (*lease, error) {
	p := r.Versions
	if p.DB.Engine != database.Postgres {
		return &lease{}, nil
	}
	pool, err := p.DB.OpenReadPool(ctx, 1)
	if err != nil {
		return nil, rows.Failed(ctx, "lease the rebuild", err)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		_ = pool.Close()
		return nil, rows.Failed(ctx, "lease the rebuild", err)
	}
	taken := &lease{pool: pool, conn: conn}
	var claimed bool
	err = conn.QueryRowContext(ctx, acquireRebuildLock).Scan(&claimed)
	if err == nil && claimed {
		_, err = conn.ExecContext(ctx, fmt.Sprintf("SET idle_session_timeout = %d", r.LeaseDuration.Milliseconds()))
		if err == nil {
			err = r.terminateOthers(ctx)
		}
		if err == nil {
			return taken, nil
		}
	}
	taken.release()
	if err != nil {
		err = rows.Failed(ctx, "lease the rebuild", err)
	}
	return nil, err
}

// terminateOthers throws a process out that is in the middle of a step of a rebuild.
func (r *Rebuilder) terminateOthers(ctx context.Context) error {
	ended, err := r.Versions.DB.EndWork(ctx, RebuildWork)
	if ended > 0 {
		r.Logger.WarnContext(ctx, "another process was in the middle of a rebuild, and was thrown out of it", "sessions", ended)
	}
	return err
}

// release lets another process take the lease.
func (c *lease) release() {
	if c.pool == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = c.conn.ExecContext(ctx, releaseRebuildLock) // the end of the session lets go, too, a little later
	_ = c.conn.Close()
	_ = c.pool.Close()
}

// check asks the database whether the lease is still held.
func (c *lease) check(ctx context.Context) error {
	if c.pool == nil {
		return nil
	}
	var locks int
	if err := c.conn.QueryRowContext(ctx, checkRebuildLock).Scan(&locks); err != nil {
		return err
	}
	if locks == 0 {
		return errors.New("the session has no lock any more")
	}
	return nil
}

// errInterrupted ends a run whose rebuild is to go on later, here or elsewhere.
var errInterrupted = errors.New("interrupted")

// checksPerLease is how often a run looks whether it should go on, while its lease lasts: each check renews it.
const checksPerLease = 5

// watchLease ends a run when its lease is lost, or when another process gave its version up. It returns when
// ctx ends.
func (r *Rebuilder) watchLease(ctx context.Context, now *run) {
	look := time.NewTicker(r.LeaseDuration / checksPerLease)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		if err := now.lease.check(ctx); err != nil && ctx.Err() == nil {
			now.cancel(fmt.Errorf("%w: the lease on the rebuild is lost: %w", errInterrupted, err))
		}
		state, err := r.Versions.state(ctx, r.Versions.DB, now.version)
		if err == nil && (state == catalogue.StateRetired || state == catalogue.StateFailed) {
			now.cancel(fmt.Errorf("version %d is %s: %w", now.version.Version, state, catalogue.ErrMoved))
		}
	}
}

// isResumable tells whether a run that ended with an error left its rebuild to go on later.
func (r *Rebuilder) isResumable(err error) bool {
	passing := []error{errInterrupted, database.ErrUnavailable}
	return r.ctx.Err() != nil || slices.ContainsFunc(passing, func(kind error) bool { return errors.Is(err, kind) })
}
