package proof

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Checkpoint is a recent signed checkpoint of the tree; of size 0 and unsigned if the tree is empty.
func (p *Prover) Checkpoint(ctx context.Context, tenant string) (domain.Checkpoint, error) {
	return p.sign(ctx, tenant, 0)
}

// Keep signs every tree that has grown at intervals, until ctx ends. While a tree is forked, it suspends the log.
func (p *Prover) Keep(ctx context.Context) {
	p.warnOfUnknownSigners(ctx)
	for ctx.Err() == nil {
		select {
		case <-time.After(p.options.Every):
		case <-ctx.Done():
			return
		}
		err := p.signAll(ctx)
		p.suspend(err)
		if err != nil && ctx.Err() == nil {
			p.options.Logger.ErrorContext(ctx, "the log was not signed; it is tried again", "error", err, "after",
				p.options.Every.String())
		}
	}
}

// signAll signs the trees whose size is not what was signed. Each server does, to notice that one is forked.
func (p *Prover) signAll(ctx context.Context) error {
	tenants, err := namesIn(ctx, p.db, `
		SELECT tenant
		FROM checkpoints AS c
		WHERE projection = ? AND position <> coalesce((
			SELECT max(size) FROM signed_checkpoints WHERE tenant = c.tenant AND signer = ?
		), 0)
		ORDER BY tenant`, Name, signerID(p.key.Signer))
	if err != nil {
		return failed("look which trees grew", err)
	}
	for _, tenant := range tenants {
		if _, refused := p.sign(ctx, tenant, 0); refused != nil {
			err = errors.Join(err, fmt.Errorf("tenant %s: %w", tenant, refused))
		}
	}
	return err
}

// suspend lets the log refuse writes if a tree is forked, and accept them when all trees are known not to be.
func (p *Prover) suspend(unsigned error) {
	switch {
	case errors.Is(unsigned, errForked):
		p.log.Suspend(domain.Refuse(domain.ErrUnavailable, "writes are refused, since the log is not the one that was "+
			"signed: let the database URL lead to the right server, or restore a backup; annals verify names the place"))
	case !errors.Is(unsigned, domain.ErrUnavailable):
		p.log.Suspend(nil)
	}
}

// errForked says that the tree does not continue what was signed before.
const errForked halt = "the tree is not what was signed before: annals verify names the place"

// sign returns a checkpoint of at least so many events, which may be a recent one. It refuses a tree that does not
// continue what this key has signed, or of which a part is lost.
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
	fresh = fresh || last.Size > 0 && p.db.Standby() // which signs nothing
	if last.Size >= atLeast && (last.Size == size || fresh && last.Size < size) {
		return last, nil
	}
	reader := t.reader(ctx)
	if before, err := tlog.TreeHash(last.Size, reader); size < last.Size || err == nil && last.Size > 0 &&
		before != last.Root {
		return last, fmt.Errorf("%w: at position %d", errForked, last.Size)
	} else if err != nil {
		return last, failed("read the tree", err)
	}
	c := domain.Checkpoint{Origin: p.origin(tenant), Size: size}
	if c.Root, err = tlog.TreeHash(size, reader); err != nil {
		return c, failed("read the tree", err)
	}
	signed, err := note.Sign(&note.Note{Text: textOf(c)}, p.key.Signer)
	if err != nil {
		return c, fmt.Errorf("sign: %w", err)
	}
	c.Note = string(signed)
	return c, p.store(ctx, tenant, c)
}

// origin distinguishes the log from all others.
func (p *Prover) origin(tenant string) string { return p.key.Signer.Name() + "/" + tenant }

// lastSigned is the newest checkpoint of this key, with its time; zero values if there is none.
func (p *Prover) lastSigned(ctx context.Context, tenant string) (c domain.Checkpoint, at database.Time, err error) {
	var size int64
	var signed string
	err = database.ForEach(ctx, p.db, func(rows *sql.Rows) error { return rows.Scan(&size, &signed, &at) }, `
		SELECT size, note, signed_at
		FROM signed_checkpoints
		WHERE tenant = ? AND signer = ?
		ORDER BY size DESC
		LIMIT 1`, tenant, signerID(p.key.Signer))
	if err != nil || size == 0 {
		return c, at, err
	}
	c, err = Open(signed, p.key.Public())
	if err == nil && (c.Size != size || c.Origin != p.origin(tenant)) {
		err = fmt.Errorf("%w: tenant %s, position %d", errForked, tenant, size)
	}
	return c, at, err
}

// store stores a checkpoint, and its size in the table of checkpoints of projections, for detecting a loss.
func (p *Prover) store(ctx context.Context, tenant string, c domain.Checkpoint) error {
	now := database.At(p.options.Clock())
	err := p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO signed_checkpoints (tenant, size, signer, note, signed_at)
			VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`,
			tenant, c.Size, signerID(p.key.Signer), c.Note, now)
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

// finishing limits the final signing at the end of the process. What remains unsigned is signed after the next start.
const finishing = 5 * time.Second

// Finish signs what is not signed yet, after the log of this process was closed, since the next start may be far
// away. If another process works on the tree, Finish leaves it to that process.
func (p *Prover) Finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finishing)
	defer cancel()
	lease, err := p.followers.Lease(ctx, Name)
	if err == nil && (!lease.Held() || lease.Holder == p.db.InstanceID) {
		err = p.finishAll(ctx)
	}
	if err != nil {
		p.options.Logger.WarnContext(ctx, "the newest events were not signed; they are after the next start", "error", err)
	}
}

func (p *Prover) finishAll(ctx context.Context) error {
	tenants, err := p.log.Reader.Tenants(ctx)
	for _, tenant := range tenants {
		head, _, refused := p.log.Reader.Head(ctx, tenant)
		if refused == nil && head > 0 {
			_, refused = p.sign(ctx, tenant, head)
		}
		if refused != nil {
			err = errors.Join(err, fmt.Errorf("tenant %s: %w", tenant, refused))
		}
	}
	return err
}

// lookedThrough limits the newest checkpoints that are searched for signatures of other keys.
const lookedThrough = 1000

// unknownSigners are the keys that recently signed a tenant's log and that this server does not know. It cannot
// verify their signatures, and other servers cannot verify its own.
func (p *Prover) unknownSigners(ctx context.Context, tenant string) ([]string, error) {
	signers, err := namesIn(ctx, p.db, `
		SELECT DISTINCT signer
		FROM (
			SELECT signer
			FROM signed_checkpoints
			WHERE tenant = ?
			ORDER BY size DESC
			LIMIT ?
		) AS newest
		ORDER BY signer`, tenant, lookedThrough)
	if err != nil {
		return nil, failed("look who signed", err)
	}
	return slices.DeleteFunc(signers, func(signer string) bool { return slices.Contains(p.known, signer) }), nil
}

// warnOfUnknownSigners logs that other servers sign with other keys.
func (p *Prover) warnOfUnknownSigners(ctx context.Context) {
	tenants, err := p.log.Reader.Tenants(ctx)
	var unknown []string
	for _, tenant := range tenants {
		signers, refused := p.unknownSigners(ctx, tenant)
		if refused != nil {
			err = refused
		}
		unknown = append(unknown, signers...)
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	switch {
	case err != nil && ctx.Err() == nil:
		p.options.Logger.WarnContext(ctx, "it is not known who else signs the log", "error", err)
	case len(unknown) > 0:
		p.options.Logger.WarnContext(ctx,
			"the log was also signed with keys that this server does not have, so that it cannot be verified "+
				"with its own: all servers of a database need the same log.key and log.pub",
			"keys", unknown, "own", signerID(p.key.Signer))
	}
}

// idsOf are the [signerID]s of public keys; it ignores invalid ones.
func idsOf(public []string) (ids []string) {
	for _, text := range public {
		if key, err := note.NewVerifier(text); err == nil {
			ids = append(ids, signerID(key))
		}
	}
	return ids
}

// Endorse signs a text for a file that goes beyond one log. Its first line has a space, which the origin of a
// checkpoint never has, so that the signature is good for nothing else.
func (p *Prover) Endorse(text string) (string, error) {
	if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, " ") {
		return "", errors.New("sign a text: its first line could be the origin of a checkpoint")
	}
	signed, err := note.Sign(&note.Note{Text: text}, p.key.Signer)
	return string(signed), err
}
