package projections

import (
	"context"
	"errors"
	"fmt"

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
// [domain.ErrNotFound] if there is none.
func (p *Knowledge) Rollback(ctx context.Context) (version int, err error) {
	var e entry
	found, err := p.one(ctx, &e, stateDraining)
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
		_, err := tx.ExecContext(ctx, fmt.Sprintf("DROP VIEW %s; %s", knowledgeName, view(to)))
		return err
	}, func(ctx context.Context, tx bun.Tx) error {
		active, err := p.replaceable(ctx, tx, to, from)
		if err != nil {
			return err
		}
		if err := p.retire(ctx, tx, to); err != nil {
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
	return both[0].Version, nil
}

// Retire stops writing the version that was active before, and with it gives up the way back. Its
// tables go with the next [Knowledge.Sweep].
func (p *Knowledge) Retire(ctx context.Context) error {
	return p.exclusively(ctx, nil, func(ctx context.Context, tx bun.Tx) error { return p.retire(ctx, tx, 0) })
}

// retire ends the writing of every draining version but one.
func (p *Knowledge) retire(ctx context.Context, tx bun.IDB, but int) error {
	var old []entry
	err := tx.NewSelect().Model(&old).Where("name = ?", knowledgeName).
		Where("state = ?", stateDraining).Where("version <> ?", but).Scan(ctx)
	if err != nil {
		return err
	}
	for _, e := range old {
		if err := p.advance(ctx, tx, version{entry: e}, stateDraining, stateRetired); err != nil {
			return err
		}
	}
	return nil
}

// one finds the version of knowledge that is in one of the states.
func (p *Knowledge) one(ctx context.Context, e *entry, states ...string) (bool, error) {
	var found []entry
	err := p.db.NewSelect().Model(&found).Where("name = ?", knowledgeName).Where("state IN (?)", bun.List(states)).Scan(ctx)
	if err != nil {
		return false, p.failed(ctx, "read the catalogue", err)
	}
	if len(found) == 0 {
		return false, nil
	}
	*e = found[0]
	return true, nil
}
