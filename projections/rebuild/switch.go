package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Switch lets readers read a version that is ready. Appends wait for the moment it takes; the version
// that was active goes on being written, so that [Versions.Rollback] loses nothing. The error matches
// [domain.ErrConflict] if readers read another version by now than it was verified against.
func (p *Versions) Switch(ctx context.Context, to int) error {
	return unlessMoved(p.swap(ctx, to, catalogue.StateReady))
}

// Rollback lets readers read the version again that was active before. The error matches
// [domain.ErrNotFound] if there is none, and [domain.ErrConflict] if it is one that a repair has replaced.
func (p *Versions) Rollback(ctx context.Context) (version int, err error) {
	var e catalogue.Entry
	found, err := p.newestIn(ctx, &e, catalogue.StateStandby)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, domain.Refuse(domain.ErrNotFound, "no earlier version of knowledge is being kept").
			WithFix("rebuild instead")
	}
	return e.Version, unlessMoved(p.swap(ctx, e.Version, catalogue.StateStandby))
}

func (p *Versions) swap(ctx context.Context, to int, from string) error {
	err := p.exclusively(ctx, func(ctx context.Context, tx bun.Tx) error {
		// A long query over the view must not keep appends waiting: its lock comes first.
		_, err := tx.ExecContext(ctx, fmt.Sprintf("DROP VIEW IF EXISTS %s; %s", catalogue.KnowledgeName,
			catalogue.ViewDefinition(to)))
		return err
	}, func(ctx context.Context, tx bun.Tx) error {
		active, err := replaceable(ctx, tx, to, from)
		if err != nil {
			return err
		}
		if err := p.advance(ctx, tx, catalogue.Version{Entry: catalogue.Entry{Version: active}}, catalogue.StateActive,
			catalogue.StateStandby); err != nil {
			return err
		}
		return p.advance(ctx, tx, catalogue.Version{Entry: catalogue.Entry{Version: to}}, from, catalogue.StateActive)
	})
	if err != nil {
		return fmt.Errorf("switch to version %d of knowledge: %w", to, err)
	}
	return p.Reload(ctx, p.DB)
}

// unlessMoved turns the error of a concurrent change into a conflict.
func unlessMoved(err error) error {
	if errors.Is(err, catalogue.ErrMoved) {
		return domain.Refuse(domain.ErrConflict, "somebody else changed the versions of knowledge just now").
			WithFix("look at them, and try again")
	}
	return err
}

// replaceable is the active version, if the one that is to take over is in the state it should be in
// and was verified against no other.
func replaceable(ctx context.Context, tx bun.IDB, to int, from string) (active int, err error) {
	var both []catalogue.Listed
	err = tx.NewSelect().Model(&both).Where("name = ?", catalogue.KnowledgeName).
		Where("state = ? OR version = ?", catalogue.StateActive, to).
		OrderExpr("CASE state WHEN 'active' THEN 0 ELSE 1 END").Scan(ctx)
	if err != nil {
		return 0, err
	}
	if len(both) != 2 || both[1].State != from {
		return 0, fmt.Errorf("version %d is not %s any more: %w", to, from, catalogue.ErrMoved)
	}
	if report := both[1].Report; from == catalogue.StateReady && report != nil && report.Against != both[0].Version {
		return 0, domain.Refuse(domain.ErrConflict,
			"version %d was verified against version %d, and version %d is active by now",
			to, report.Against, both[0].Version).WithFix("rebuild again")
	}
	if from == catalogue.StateStandby && repairs(both[0], to) {
		return 0, domain.Refuse(domain.ErrConflict,
			"version %d was found not to be what the log says, and version %d repairs it: there is no way back to it",
			to, both[0].Version).WithFix("rebuild again, if need be; version %d is dropped within a minute", to)
	}
	return both[0].Version, nil
}

// repairs tells whether a version repairs another, which was found to be wrong.
func repairs(v catalogue.Listed, other int) bool {
	return v.Report != nil && v.Report.Repaired() && v.Report.Against == other
}

// switchDelay is for how long a version is written at least after it was active: another process may
// still take it for the active one, and let its clients read what they have just written.
const switchDelay = 2 * catalogue.VersionSetAge

// Retire stops writing the version that was active before, and with it gives up the way back. Its
// tables go with the next [Versions.DropRetired]. It waits for a moment if the switch was just now.
func (p *Versions) Retire(ctx context.Context) error {
	all, err := p.standby(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	select {
	case <-time.After(switchDelay - p.Now().Sub(all[0].UpdatedAt.Time)):
	case <-ctx.Done():
		return ctx.Err()
	}
	return p.retire(ctx, all)
}

// retireOlder keeps the newest standby version for a rollback, and ends the writing of the older ones. If the active
// version repairs the newest, that is retired, too.
func (p *Versions) retireOlder(ctx context.Context) error {
	all, err := p.standby(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	var active catalogue.Listed
	err = p.DB.NewSelect().Model(&active).Where("name = ?", catalogue.KnowledgeName).
		Where("state = ?", catalogue.StateActive).Scan(ctx)
	if err != nil {
		return rows.Failed(ctx, "read the catalogue", err)
	}
	if newest := all[0].Version; !repairs(active, newest) {
		all = all[1:] // the way back
	}
	settled := slices.DeleteFunc(all, func(e catalogue.Entry) bool { return p.Now().Sub(e.UpdatedAt.Time) < switchDelay })
	if len(settled) == 0 {
		return nil
	}
	return p.retire(ctx, settled)
}

func (p *Versions) retire(ctx context.Context, all []catalogue.Entry) error {
	return p.exclusively(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		for _, e := range all {
			err := p.advance(ctx, tx, catalogue.Version{Entry: e}, catalogue.StateStandby, catalogue.StateRetired)
			if err != nil && !errors.Is(err, catalogue.ErrMoved) {
				return err
			}
		}
		return nil
	})
}

// standby are the versions that were active before, the last of them first.
func (p *Versions) standby(ctx context.Context) ([]catalogue.Entry, error) {
	var all []catalogue.Entry
	err := p.DB.NewSelect().Model(&all).Where("name = ?", catalogue.KnowledgeName).
		Where("state = ?", catalogue.StateStandby).
		OrderExpr("updated_at DESC, version DESC").Scan(ctx)
	if err != nil {
		return nil, rows.Failed(ctx, "read the catalogue", err)
	}
	return all, nil
}

// newestIn finds the version of knowledge that came into one of the states last.
func (p *Versions) newestIn(ctx context.Context, e *catalogue.Entry, states ...string) (bool, error) {
	var found []catalogue.Entry
	err := p.DB.NewSelect().Model(&found).Where("name = ?", catalogue.KnowledgeName).
		Where("state IN (?)", bun.List(states)).
		OrderExpr("updated_at DESC, version DESC").Limit(1).Scan(ctx)
	if err != nil {
		return false, rows.Failed(ctx, "read the catalogue", err)
	}
	if len(found) == 0 {
		return false, nil
	}
	*e = found[0]
	return true, nil
}

// patienceFirst and patienceMost are for how long [Versions.exclusively] waits for others before it
// lets pass those that wait for it.
const (
	patienceFirst = 40 * time.Millisecond
	patienceMost  = 2 * time.Second
)

// exclusively runs fn in a transaction while no append is under way and none can begin: see
// [catalogue.HoldVersions]. before runs first, in the same transaction, while appends still come; it may be nil.
//
// Appends that come wait until the transaction has ended, so on PostgreSQL nothing in it waits for
// locks of others for long: it gives up, lets them pass, and tries again. On SQLite the one writer
// is the lock.
func (p *Versions) exclusively(ctx context.Context, before, fn func(ctx context.Context, tx bun.Tx) error) error {
	for patience := patienceFirst; ; patience = min(2*patience, patienceMost) {
		err := p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			if p.DB.Engine == database.Postgres {
				_, err := tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", patience.Milliseconds()))
				if err != nil {
					return err
				}
			}
			if log := p.history.Load(); log != nil { // its lock comes before locks that appends wait for
				if err := log.LockTenant(ctx, tx, domain.SystemTenant); err != nil {
					return err
				}
			}
			if before != nil {
				if err := before(ctx, tx); err != nil {
					return err
				}
			}
			if p.DB.Engine == database.Postgres {
				if _, err := tx.ExecContext(ctx, catalogue.SwitchVersions); err != nil {
					return err
				}
			}
			return fn(ctx, tx)
		})
		if refusal, ok := errors.AsType[*pq.Error](err); !ok || refusal.Code != pqerror.LockNotAvailable {
			return rows.WithRemedy(err)
		}
		if patience == patienceMost {
			p.Log.WarnContext(ctx, "waiting for a long transaction before versions of knowledge can change", "error", err)
		}
		select {
		case <-time.After(patience):
		case <-ctx.Done():
			return fmt.Errorf("%w: a long transaction is in the way: %w", ctx.Err(), err)
		}
	}
}
