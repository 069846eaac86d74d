package projections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
)

// patienceFirst and patienceMost are for how long [Knowledge.exclusively] waits for others before it
// lets pass those that wait for it.
const (
	patienceFirst = 40 * time.Millisecond
	patienceMost  = 2 * time.Second
)

// exclusively runs fn in a transaction while no append is under way and none can begin: see
// [holdVersions]. before runs first, in the same transaction, while appends still come; it may be nil.
//
// Appends that come wait until the transaction has ended, so on PostgreSQL nothing in it waits for
// locks of others for long: it gives up, lets everybody pass, and tries again. On SQLite the one writer
// is the lock.
func (p *Knowledge) exclusively(ctx context.Context, before, fn func(ctx context.Context, tx bun.Tx) error) error {
	for patience := patienceFirst; ; patience = min(2*patience, patienceMost) {
		err := p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			if p.db.Engine == database.Postgres {
				_, err := tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", patience.Milliseconds()))
				if err != nil {
					return err
				}
			}
			if err := p.holdRecord(ctx, tx); err != nil {
				return err
			}
			if before != nil {
				if err := before(ctx, tx); err != nil {
					return err
				}
			}
			if p.db.Engine == database.Postgres {
				if _, err := tx.ExecContext(ctx, switchVersions); err != nil {
					return err
				}
			}
			return fn(ctx, tx)
		})
		if refusal, ok := errors.AsType[*pq.Error](err); !ok || refusal.Code != pqerror.LockNotAvailable {
			return withRemedy(err)
		}
		if patience == patienceMost {
			p.log.WarnContext(ctx, "waiting for a long transaction before versions of knowledge can change", "error", err)
		}
		select {
		case <-time.After(patience):
		case <-ctx.Done():
			return fmt.Errorf("%w: a long transaction is in the way: %w", ctx.Err(), err)
		}
	}
}
