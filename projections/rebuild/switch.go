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

// Switch makes a ready version the active one, while appends wait. The version that was active is still written, so
// that [Versions.Rollback] loses nothing. The error matches [domain.ErrConflict] if the new version was verified
// against another version than the active one.
func (p *Versions) Switch(ctx context.Context, to int) error {
	return unlessMoved(p.swap(ctx, to, catalogue.StateReady))
}

// Rollback makes the previously active version active again. The error matches [domain.ErrNotFound] if there is none,
// and [domain.ErrConflict] if a repair has replaced it.
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
		// Lock the view before appends have to wait, because a long query over it may be running.
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
		return domain.Refuse(domain.ErrConflict, "another process has just changed the versions of knowledge").
			WithFix("look at them, and try again")
	}
	return err
}

// replaceable is the active version, if version to has the state from and was verified against no other version.
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

// repairs tells whether a version repairs the other one.
func repairs(v catalogue.Listed, other int) bool {
	return v.Report != nil && v.Report.Repaired() && v.Report.Against == other
}

// switchDelay is how long a version is written at least after it was active. Another process may still read it, and
// its clients must find what they have just written.
const switchDelay = 2 * catalogue.VersionSetAge

// Retire retires the version that was active before, so no rollback is possible. The next [Versions.DropRetired]
// drops its tables. Soon after a switch it waits for switchDelay.
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

// retireOlder keeps the newest standby version for a rollback, and retires the older ones. If the active version
// repairs the newest, it retires that, too.
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
		all = all[1:] // keep the version for a rollback
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

// standby are the versions that were active before, the latest first.
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

// patienceFirst and patienceMost are how long [Versions.exclusively] first and at most waits for locks, before it
// lets appends pass that wait for it.
const (
	patienceFirst = 40 * time.Millisecond
	patienceMost  = 2 * time.Second
)

// exclusively runs fn in a transaction that excludes appends: see [catalogue.HoldVersions]. before runs first, in the
// same transaction, while appends go on; it may be nil.
//
// Appends wait for the transaction. On PostgreSQL it therefore waits only briefly for locks, then lets appends pass
// and tries again. On SQLite the single writer is the lock.
func (p *Versions) exclusively(ctx context.Context, before, fn func(ctx context.Context, tx bun.Tx) error) error {
	for patience := patienceFirst; ; patience = min(2*patience, patienceMost) {
		err := p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			if p.DB.Engine == database.Postgres {
				_, err := tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", patience.Milliseconds()))
				if err != nil {
					return err
				}
			}
			if log := p.history.Load(); log != nil { // before locks that appends wait for
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
			return fmt.Errorf("%w: waiting for a long transaction: %w", ctx.Err(), err)
		}
	}
}
