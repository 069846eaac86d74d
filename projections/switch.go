package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Switch lets readers read a version that is ready. Appends wait for the moment it takes; the version
// that was active goes on being written, so that [Knowledge.Rollback] loses nothing. The error matches
// [domain.ErrConflict] if readers read another version by now than it was verified against.
func (p *Knowledge) Switch(ctx context.Context, to int) error {
	return unlessMoved(p.swap(ctx, to, stateReady))
}

// Rollback lets readers read the version again that was active before. The error matches
// [domain.ErrNotFound] if there is none, and [domain.ErrConflict] if it is one that a repair has replaced.
func (p *Knowledge) Rollback(ctx context.Context) (version int, err error) {
	var e entry
	found, err := p.newestIn(ctx, &e, stateDraining)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, domain.Refuse(domain.ErrNotFound, "no earlier version of knowledge is being kept").WithFix("rebuild instead")
	}
	return e.Version, unlessMoved(p.swap(ctx, e.Version, stateDraining))
}

func (p *Knowledge) swap(ctx context.Context, to int, from string) error {
	err := p.exclusively(ctx, func(ctx context.Context, tx bun.Tx) error {
		// Somebody's long query over the view must not keep appends waiting: its lock comes first.
		_, err := tx.ExecContext(ctx, fmt.Sprintf("DROP VIEW IF EXISTS %s; %s", knowledgeName, view(to)))
		return err
	}, func(ctx context.Context, tx bun.Tx) error {
		active, err := p.replaceable(ctx, tx, to, from)
		if err != nil {
			return err
		}
		if err := p.advance(ctx, tx, version{entry: entry{Version: active}}, stateActive, stateDraining); err != nil {
			return err
		}
		return p.advance(ctx, tx, version{entry: entry{Version: to}}, from, stateActive)
	})
	if err != nil {
		return fmt.Errorf("switch to version %d of knowledge: %w", to, err)
	}
	return p.look(ctx, p.db)
}

// unlessMoved says to callers what it means for them that somebody else was faster.
func unlessMoved(err error) error {
	if errors.Is(err, errMoved) {
		return domain.Refuse(domain.ErrConflict, "somebody else changed the versions of knowledge just now").WithFix("look at them, and try again")
	}
	return err
}

// replaceable is the active version, if the one that is to take over is in the state it should be in
// and was verified against no other.
func (p *Knowledge) replaceable(ctx context.Context, tx bun.IDB, to int, from string) (active int, err error) {
	var both []listed
	err = tx.NewSelect().Model(&both).Where("name = ?", knowledgeName).
		Where("state = ? OR version = ?", stateActive, to).OrderExpr("CASE state WHEN 'active' THEN 0 ELSE 1 END").Scan(ctx)
	if err != nil {
		return 0, err
	}
	if len(both) != 2 || both[1].State != from {
		return 0, fmt.Errorf("version %d is not %s any more: %w", to, from, errMoved)
	}
	if report := both[1].Report; from == stateReady && report != nil && report.Against != both[0].Version {
		return 0, domain.Refuse(domain.ErrConflict, "version %d was verified against version %d, and version %d is active by now",
			to, report.Against, both[0].Version).WithFix("rebuild again")
	}
	if from == stateDraining && both[0].replaced(to) {
		return 0, domain.Refuse(domain.ErrConflict, "version %d was found not to be what the log says, and version %d repairs it: there is no way back to it",
			to, both[0].Version).WithFix("rebuild again, if need be; version %d is dropped within a minute", to)
	}
	return both[0].Version, nil
}

// replaced tells whether the version repairs another, which was found to be wrong.
func (v listed) replaced(other int) bool {
	return v.Report != nil && v.Report.Repaired() && v.Report.Against == other
}

// switchDelay is for how long a version is written at least after it was active: another process may
// still take it for the active one, and let its clients read what they have just written.
const switchDelay = 2 * versionSetAge

// Retire stops writing the version that was active before, and with it gives up the way back. Its
// tables go with the next [Knowledge.Sweep]. It waits for a moment if the switch was just now.
func (p *Knowledge) Retire(ctx context.Context) error {
	all, err := p.draining(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	select {
	case <-time.After(switchDelay - p.now().Sub(all[0].UpdatedAt.Time)):
	case <-ctx.Done():
		return ctx.Err()
	}
	return p.retire(ctx, all)
}

// retireOlder ends the writing of versions that a rollback no longer leads to: those before the last, and
// one that was found to be wrong.
func (p *Knowledge) retireOlder(ctx context.Context) error {
	all, err := p.draining(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	var active listed
	err = p.db.NewSelect().Model(&active).Where("name = ?", knowledgeName).Where("state = ?", stateActive).Scan(ctx)
	if err != nil {
		return p.failed(ctx, "read the catalogue", err)
	}
	if !active.replaced(all[0].Version) {
		all = all[1:]
	}
	settled := slices.DeleteFunc(all, func(e entry) bool { return p.now().Sub(e.UpdatedAt.Time) < switchDelay })
	if len(settled) == 0 {
		return nil
	}
	return p.retire(ctx, settled)
}

func (p *Knowledge) retire(ctx context.Context, all []entry) error {
	return p.exclusively(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		for _, e := range all {
			err := p.advance(ctx, tx, version{entry: e}, stateDraining, stateRetired)
			if err != nil && !errors.Is(err, errMoved) {
				return err
			}
		}
		return nil
	})
}

// draining are the versions that were active before, the last of them first.
func (p *Knowledge) draining(ctx context.Context) ([]entry, error) {
	var all []entry
	err := p.db.NewSelect().Model(&all).Where("name = ?", knowledgeName).Where("state = ?", stateDraining).
		OrderExpr("updated_at DESC, version DESC").Scan(ctx)
	if err != nil {
		return nil, p.failed(ctx, "read the catalogue", err)
	}
	return all, nil
}

// newestIn finds the version of knowledge that came into one of the states last.
func (p *Knowledge) newestIn(ctx context.Context, e *entry, states ...string) (bool, error) {
	var found []entry
	err := p.db.NewSelect().Model(&found).Where("name = ?", knowledgeName).Where("state IN (?)", bun.List(states)).
		OrderExpr("updated_at DESC, version DESC").Limit(1).Scan(ctx)
	if err != nil {
		return false, p.failed(ctx, "read the catalogue", err)
	}
	if len(found) == 0 {
		return false, nil
	}
	*e = found[0]
	return true, nil
}
