package proof

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// mostEarlier limits the earlier checkpoints in an export, which help to locate a change.
const mostEarlier = 1000

// Export writes a range of a tenant's log, one record per line as stored, and a last line that proves it. Verifying
// it requires only a public key: see [VerifyFile].
func (p *Prover) Export(ctx context.Context, x domain.Export, out io.Writer) (err error) {
	var head int64
	readHead := func(rows *sql.Rows) error { return rows.Scan(&head) }
	if err := database.ForEach(ctx, p.db, readHead, headQuery, x.Tenant); err != nil {
		return failed("export", err)
	}
	x.Through = cmp.Or(x.Through, head)
	var bad domain.Problems
	if x.Through > head {
		bad.Add("through", "must be at most %d, the end of the log", head)
	}
	if x.After > x.Through {
		bad.Add("after", "must be at most %d", x.Through)
	}
	if err := bad.Err(); err != nil {
		return err
	}
	c, err := p.sign(ctx, x.Tenant, x.Through)
	if err != nil {
		return err
	}
	// The records and erasures must be of one snapshot. The export uses a connection outside of the pool, since the
	// reader of an export may be slow.
	pool, err := p.db.OpenReadPool(ctx, 1)
	if err != nil {
		return failed("export", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	tx, err := beginSnapshot(ctx, pool, p.db.Engine)
	if err != nil {
		return failed("export", err)
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	if err := database.ForEach(ctx, tx, readHead, headQuery, x.Tenant); err != nil {
		return failed("export", err)
	}
	m, err := p.manifest(ctx, tx, x, c)
	if err != nil {
		return failed("prove an export", err)
	}
	m.Head = head
	buffered := bufio.NewWriterSize(out, 64<<10)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	for after := x.After; after < x.Through; {
		if after, err = exportPage(ctx, tx, x, after, encoder); err != nil {
			return failed("export", err)
		}
	}
	if err := encoder.Encode(struct {
		Manifest *manifest `json:"manifest"`
	}{m}); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return buffered.Flush()
}

func exportPage(ctx context.Context, tx database.Querier, x domain.Export, after int64, encoder *json.Encoder) (int64,
	error,
) {
	var s stored
	before := after
	err := database.ForEach(ctx, tx, func(rows *sql.Rows) error {
		if err := rows.Scan(s.targets()...); err != nil {
			return err
		}
		l := lineOf(&s, x.Texts)
		after = l.Position
		return encoder.Encode(l)
	}, selectRecords, x.Tenant, after, min(chunkRecords, x.Through-after))
	if err == nil && after == before {
		err = fmt.Errorf("position %d of tenant %s is missing: the log is damaged", after+1, x.Tenant)
	}
	return after, err
}

const headQuery = `
	SELECT coalesce(max(position), 0)
	FROM events
	WHERE tenant = ?`

// beginSnapshot begins a transaction with one snapshot.
func beginSnapshot(ctx context.Context, db *bun.DB, engine database.Engine) (bun.Tx, error) {
	var options *sql.TxOptions
	if engine == database.Postgres {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	tx, err := db.BeginTx(ctx, options)
	return tx, database.Classify(ctx, err)
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// selectRecords reads stored records of a tenant after a position, up to a number.
const selectRecords = `
	SELECT ` + columns + `, e.hash, t.salt, t.text
	FROM events AS e
	LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
	WHERE e.tenant = ? AND e.position > ?
	ORDER BY e.position
	LIMIT ?`

func (p *Prover) manifest(ctx context.Context, tx database.Querier, x domain.Export, c domain.Checkpoint) (*manifest,
	error,
) {
	t := tree{db: tx, tenant: x.Tenant}
	m := &manifest{
		Format: exportFormat, Tenant: x.Tenant, After: x.After, Through: x.Through, Count: x.Through - x.After,
		Texts:      x.Texts,
		Checkpoint: c.Note, Key: p.Key(),
		Before: []tlog.Hash{}, Consistency: []tlog.Hash{}, Earlier: []string{},
	}
	before, err := t.frontier(ctx, x.After)
	if err != nil {
		return nil, err
	}
	m.Before = append(m.Before, before.roots...)
	if m.Root, err = tlog.TreeHash(x.Through, t.reader(ctx)); err != nil {
		return nil, err
	}
	if x.Through > 0 && x.Through < c.Size {
		if m.Consistency, err = tlog.ProveTree(c.Size, x.Through, t.reader(ctx)); err != nil {
			return nil, err
		}
	}
	var skip, number int64
	err = database.ForEach(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&number) }, `
		SELECT count(*)
		FROM signed_checkpoints
		WHERE tenant = ? AND size > ? AND size < ? AND signer = ?`, x.Tenant, x.After, x.Through, signerID(p.key.Signer))
	if skip = 1 + number/mostEarlier; err != nil {
		return nil, err
	}
	seen := int64(0)
	return m, errors.Join(database.ForEach(ctx, tx, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		if seen++; seen%skip == 0 {
			m.Earlier = append(m.Earlier, text)
		}
		return err
	}, `
		SELECT note
		FROM signed_checkpoints
		WHERE tenant = ? AND size > ? AND size < ? AND signer = ?
		ORDER BY size`, x.Tenant, x.After, x.Through, signerID(p.key.Signer)))
}
