package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

const (
	claimRebuild   = "SELECT pg_try_advisory_lock(hashtextextended('annals.rebuild', 0))"
	holdsRebuild   = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
	releaseRebuild = "SELECT pg_advisory_unlock(hashtextextended('annals.rebuild', 0))"
)

// rebuildWork is what the transactions of a rebuild belong to.
const rebuildWork = "annals.rebuilding"

// claimLasts is for how long a process may be held up before another one goes on with its rebuild.
const claimLasts = 10 * time.Second

// claim is one process's right to work on a rebuild, kept by a connection: it ends when it is
// released, with the process, however that ends, or when the process has not been heard of for a while,
// by the server's clock. What it saves is work. Should two processes be at it, since a connection can be
// lost unnoticed for a while, then every step still happens once: each is taken in the transaction that
// does it.
type claim struct {
	pool *bun.DB // of this connection alone; nil on SQLite, whose file belongs to one process
	conn bun.Conn
}

// claim gives nil if another process has the claim. What one left undone that had it before is undone.
func (r *Rebuilder) claim(ctx context.Context) (*claim, error) {
	p := r.knowledge
	if p.db.Engine != database.Postgres {
		return &claim{}, nil
	}
	pool, err := p.db.Apart(ctx, 1)
	if err != nil {
		return nil, p.failed(ctx, "claim the rebuild", err)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		_ = pool.Close()
		return nil, p.failed(ctx, "claim the rebuild", err)
	}
	taken := &claim{pool: pool, conn: conn}
	var claimed bool
	err = conn.QueryRowContext(ctx, claimRebuild).Scan(&claimed)
	if err == nil && claimed {
		_, err = conn.ExecContext(ctx, fmt.Sprintf("SET idle_session_timeout = %d", r.claimLasts.Milliseconds()))
		if err == nil {
			err = r.endElsewhere(ctx)
		}
		if err == nil {
			return taken, nil
		}
	}
	taken.release()
	if err != nil {
		err = p.failed(ctx, "claim the rebuild", err)
	}
	return nil, err
}

// endElsewhere throws a process out that is in the middle of a step of a rebuild.
func (r *Rebuilder) endElsewhere(ctx context.Context) error {
	ended, err := r.knowledge.db.EndWork(ctx, rebuildWork)
	if ended > 0 {
		r.logger.WarnContext(ctx, "another process was in the middle of a rebuild, and was thrown out of it", "sessions", ended)
	}
	return err
}

// release lets another process have the claim.
func (c *claim) release() {
	if c.pool == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = c.conn.ExecContext(ctx, releaseRebuild) // the end of the session lets go, too, a little later
	_ = c.conn.Close()
	_ = c.pool.Close()
}

// holds asks the database whether the claim still stands.
func (c *claim) holds(ctx context.Context) error {
	if c.pool == nil {
		return nil
	}
	var locks int
	if err := c.conn.QueryRowContext(ctx, holdsRebuild).Scan(&locks); err != nil {
		return err
	}
	if locks == 0 {
		return errors.New("the session has no lock any more")
	}
	return nil
}

// errInterrupted ends a run whose rebuild is to go on later, here or elsewhere.
var errInterrupted = errors.New("interrupted")

// looksPerClaim is how often a run looks whether it should go on, while its claim lasts: each look makes it last.
const looksPerClaim = 5

// guard ends a run when its claim is lost, or when another process gave its version up. It returns when
// ctx ends.
func (r *Rebuilder) guard(ctx context.Context, now *run) {
	look := time.NewTicker(r.claimLasts / looksPerClaim)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		if err := now.claim.holds(ctx); err != nil && ctx.Err() == nil {
			now.cancel(fmt.Errorf("%w: the claim on the rebuild is lost: %w", errInterrupted, err))
		}
		state, err := r.knowledge.state(ctx, now.version)
		if err == nil && (state == stateRetired || state == stateFailed) {
			now.cancel(fmt.Errorf("version %d is %s: %w", now.version.Version, state, errMoved))
		}
	}
}

// left tells whether a run that ended with an error left its rebuild to go on later.
func (r *Rebuilder) left(err error) bool {
	passing := []error{errInterrupted, database.ErrUnavailable}
	return r.ctx.Err() != nil || slices.ContainsFunc(passing, func(kind error) bool { return errors.Is(err, kind) })
}
