package projections

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Switch lets readers read a version that is ready. Appends wait for the moment it takes; the version
// that was active goes on being written, so that [Knowledge.Rollback] loses nothing.
func (p *Knowledge) Switch(ctx context.Context, to int) error {
	return p.swap(ctx, to, stateReady)
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
	return e.Version, p.swap(ctx, e.Version, stateDraining)
}

func (p *Knowledge) swap(ctx context.Context, to int, from string) error {
	now := database.At(p.now())
	err := p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockVersions(ctx, p.db.Engine, tx); err != nil {
			return err
		}
		if err := p.retire(ctx, tx, to); err != nil {
			return err
		}
		_, err := tx.NewUpdate().Model((*entry)(nil)).Set("state = ?, updated_at = ?", stateDraining, now).
			Where("name = ?", knowledgeName).Where("state = ?", stateActive).Exec(ctx)
		if err != nil {
			return err
		}
		if err := p.advance(ctx, tx, version{entry: entry{Version: to}}, from, stateActive); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("DROP VIEW %s; %s", knowledgeName, view(to)))
		return err
	})
	if err != nil {
		return fmt.Errorf("switch to version %d of knowledge: %w", to, err)
	}
	return p.look(ctx, p.db)
}

// Retire stops writing the version that was active before, and with it gives up the way back. Its
// tables go with the next [Knowledge.Sweep].
func (p *Knowledge) Retire(ctx context.Context) error {
	return p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockVersions(ctx, p.db.Engine, tx); err != nil {
			return err
		}
		return p.retire(ctx, tx, 0)
	})
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

// one finds the version of knowledge that is in a state.
func (p *Knowledge) one(ctx context.Context, e *entry, state string) (bool, error) {
	var found []entry
	err := p.db.NewSelect().Model(&found).Where("name = ?", knowledgeName).Where("state = ?", state).Scan(ctx)
	if err != nil {
		return false, p.failed(ctx, "read the catalogue", err)
	}
	if len(found) == 0 {
		return false, nil
	}
	*e = found[0]
	return true, nil
}
