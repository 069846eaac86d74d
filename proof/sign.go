package proof

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Checkpoint is a signed checkpoint of the tree as it is now, or was a moment ago; of size 0 and
// unsigned if the tree is empty.
func (p *Prover) Checkpoint(ctx context.Context, tenant string) (domain.Checkpoint, error) {
	return p.sign(ctx, tenant, 0)
}

// Keep signs every tree that has grown, now and then, until ctx ends.
func (p *Prover) Keep(ctx context.Context) {
	p.warnOfStrangers(ctx)
	for ctx.Err() == nil {
		select {
		case <-time.After(p.options.Every):
		case <-ctx.Done():
			return
		}
		if err := p.signAll(ctx); err != nil && ctx.Err() == nil {
			p.options.Logger.ErrorContext(ctx, "the log was not signed; it is tried again", "error", err, "after", p.options.Every.String())
		}
	}
}

func (p *Prover) signAll(ctx context.Context) error {
	tenants, err := p.log.Tenants(ctx)
	for _, tenant := range tenants {
		if _, refused := p.sign(ctx, tenant, 0); refused != nil {
			err = errors.Join(err, fmt.Errorf("tenant %s: %w", tenant, refused))
		}
	}
	return err
}

// errForked says that the tree is not a continuation of what was signed before.
const errForked halt = "the tree is not what was signed before: annals verify names the place"

// sign returns a checkpoint of at least so many events. One that was signed a moment ago will do. A tree that does
// not continue what this key has signed is not signed, and neither is one of which something is lost.
func (p *Prover) sign(ctx context.Context, tenant string, atLeast int64) (domain.Checkpoint, error) {
	t := p.tree(tenant)
	last, signedAt, err := p.lastSigned(ctx, tenant)
	if err != nil {
		return last, failed("read the last checkpoint", err)
	}
	x, err := t.extent(ctx)
	if err != nil {
		return last, failed("read what was signed", err)
	}
	if err := x.whole(); err != nil {
		return last, err
	}
	size, err := p.reach(ctx, tenant, atLeast)
	if err != nil {
		return last, failed("let the tree grow", err)
	}
	if size == 0 && last.Size == 0 {
		return domain.Checkpoint{Origin: p.origin(tenant), Root: (&frontier{}).root()}, nil
	}
	fresh := p.options.Clock().Sub(signedAt.Time) < p.options.Every/10
	if last.Size >= atLeast && (last.Size == size || fresh && last.Size < size) {
		return last, nil
	}
	reader := t.reader(ctx)
	if before, err := tlog.TreeHash(last.Size, reader); size < last.Size || err == nil && last.Size > 0 && before != last.Root {
		return last, fmt.Errorf("%w: at position %d", errForked, last.Size)
	} else if err != nil {
		return last, failed("read the tree", err)
	}
	c := domain.Checkpoint{Origin: p.origin(tenant), Size: size}
	if c.Root, err = tlog.TreeHash(size, reader); err != nil {
		return c, failed("read the tree", err)
	}
	signed, err := note.Sign(&note.Note{Text: textOf(c)}, p.key.signer)
	if err != nil {
		return c, fmt.Errorf("sign: %w", err)
	}
	c.Note = string(signed)
	return c, p.store(ctx, tenant, c)
}

// origin tells the log from all others.
func (p *Prover) origin(tenant string) string { return p.key.Name() + "/" + tenant }

// lastSigned is the newest checkpoint that this key has signed, and when; zero values if there is none.
func (p *Prover) lastSigned(ctx context.Context, tenant string) (c domain.Checkpoint, at database.Time, err error) {
	var size int64
	var signed string
	err = database.ForEach(ctx, p.db, func(rows *sql.Rows) error { return rows.Scan(&size, &signed, &at) }, `
		SELECT size, note, signed_at
		FROM signed_checkpoints
		WHERE tenant = ? AND signer = ?
		ORDER BY size DESC
		LIMIT 1`, tenant, signerID(p.key.signer))
	if err != nil || size == 0 {
		return c, at, err
	}
	c, err = Open(signed, p.key.Public())
	if err == nil && (c.Size != size || c.Origin != p.origin(tenant)) {
		err = fmt.Errorf("%w: tenant %s, position %d", errForked, tenant, size)
	}
	return c, at, err
}

// store keeps a checkpoint, and notes elsewhere how far the log was signed with it.
func (p *Prover) store(ctx context.Context, tenant string, c domain.Checkpoint) error {
	now := database.At(p.options.Clock())
	err := p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO signed_checkpoints (tenant, size, signer, note, signed_at)
			VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`,
			tenant, c.Size, signerID(p.key.signer), c.Note, now)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO checkpoints AS c (projection, tenant, position, event_id, updated_at)
			SELECT ?, tenant, position, event_id, ?
			FROM events
			WHERE tenant = ? AND position = ?
			ON CONFLICT (projection, tenant) DO UPDATE
			SET position = excluded.position, event_id = excluded.event_id, updated_at = excluded.updated_at
			WHERE c.position < excluded.position`, signedName, now, tenant, c.Size)
		return err
	})
	if err != nil {
		return failed("keep a checkpoint", err)
	}
	return nil
}
