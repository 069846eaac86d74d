package proof

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// mostEarlier is how many earlier checkpoints go with an export: they narrow down what was changed.
const mostEarlier = 1000

// Export writes a piece of a tenant's log, one record a line as it is stored, and a last line that proves
// it; or an excerpt, in which each line proves itself. Whoever has them and a public key needs nothing else: see
// [VerifyFile].
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
	if x.Chosen != nil {
		return p.excerpt(ctx, x, head, c, out)
	}
	// What is there and what was erased must be of one moment. From here on the export uses this connection alone, which
	// is none of the pool's: the reader of an export may be slow.
	pool, err := p.db.OpenReadPool(ctx, 1)
	if err != nil {
		return failed("export", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	tx, err := oneMoment(ctx, pool, p.db.Engine)
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

func exportPage(ctx context.Context, tx database.Querier, x domain.Export, after int64, encoder *json.Encoder) (int64, error) {
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

// oneMoment begins a transaction that reads, and sees one moment.
func oneMoment(ctx context.Context, db *bun.DB, engine database.Engine) (bun.Tx, error) {
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

// selectRecords reads stored records: of a tenant, after a position, so many.
const selectRecords = `
	SELECT ` + columns + `, e.hash, t.salt, t.text
	FROM events AS e
	LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
	WHERE e.tenant = ? AND e.position > ?
	ORDER BY e.position
	LIMIT ?`

func (p *Prover) manifest(ctx context.Context, tx database.Querier, x domain.Export, c domain.Checkpoint) (*manifest, error) {
	t := tree{db: tx, tenant: x.Tenant}
	m := &manifest{
		Format: exportFormat, Tenant: x.Tenant, After: x.After, Through: x.Through, Count: x.Through - x.After, Texts: x.Texts,
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
		WHERE tenant = ? AND size > ? AND size < ? AND signer = ?`, x.Tenant, x.After, x.Through, signerID(p.key.signer))
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
		ORDER BY size`, x.Tenant, x.After, x.Through, signerID(p.key.signer)))
}

// excerptFormat is written into the manifest of an excerpt.
const excerptFormat = "annals excerpt 1"

// excerpt writes the events that x.Chosen selects, one record a line with a proof that it is in the log that the
// manifest's checkpoint describes. Each line proves itself; that none is left out, nothing proves.
func (p *Prover) excerpt(ctx context.Context, x domain.Export, head int64, c domain.Checkpoint, out io.Writer) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	paths := &pathReader{tree: p.tree(x.Tenant), size: c.Size}
	m := &manifest{
		Format: excerptFormat, Tenant: x.Tenant, After: x.After, Through: x.Through, Head: head, Texts: x.Texts,
		Checkpoint: c.Note, Key: p.Key(), Filters: x.Asked, Before: []tlog.Hash{}, Consistency: []tlog.Hash{}, Earlier: []string{},
	}
	q := *x.Chosen
	q.Tenant, q.After, q.Limit, q.Descending = x.Tenant, x.After, chunkRecords, false
	for more := true; more; {
		found, next, err := p.log.Find(ctx, q)
		if err != nil {
			return err
		}
		var positions []int64
		for _, event := range found {
			if event.Position <= x.Through {
				positions = append(positions, event.Position)
			}
		}
		if err := p.excerptPage(ctx, x, positions, paths, encoder); err != nil {
			return failed("export", err)
		}
		m.Count += int64(len(positions))
		q.After, more = next, next != 0 && next < x.Through
	}
	if err := encoder.Encode(struct {
		Manifest *manifest `json:"manifest"`
	}{m}); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return buffered.Flush()
}

func (p *Prover) excerptPage(ctx context.Context, x domain.Export, positions []int64, paths *pathReader, encoder *json.Encoder) error {
	var lines []*line
	var s stored
	for few := range slices.Chunk(positions, 100) {
		args := []any{x.Tenant}
		places := ""
		for _, position := range few {
			places, args = places+", ?", append(args, position)
		}
		err := database.ForEach(ctx, p.db, func(rows *sql.Rows) error {
			err := rows.Scan(s.targets()...)
			lines = append(lines, lineOf(&s, x.Texts))
			return err
		}, `
			SELECT `+columns+`, e.hash, t.salt, t.text
			FROM events AS e
			LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
			WHERE e.tenant = ? AND e.position IN (`+places[2:]+`)
			ORDER BY e.position`, args...)
		if err != nil {
			return err
		}
	}
	for _, l := range lines {
		path, err := paths.to(ctx, l.Position)
		if err != nil {
			return err
		}
		for _, hash := range path {
			l.Path = append(l.Path, base64.StdEncoding.EncodeToString(hash[:]))
		}
		if err := encoder.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// pathReader makes the inclusion proofs of many events of one tree, whose rows it keeps: neighbours share most of
// theirs.
type pathReader struct {
	tree tree
	size int64
	rows []row // by number
}

// mostRows are kept, of up to 16 KiB each.
const mostRows = 1000

func (r *pathReader) to(ctx context.Context, position int64) (tlog.RecordProof, error) {
	return tlog.ProveRecord(r.size, position-1, tlog.HashReaderFunc(func(numbers []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(numbers))
		for i, number := range numbers {
			row, err := r.row(ctx, number)
			at := (number - row.number) * tlog.HashSize
			if err != nil || at+tlog.HashSize > int64(len(row.hashes)) {
				return nil, torn(err)
			}
			hashes[i] = tlog.Hash(row.hashes[at:])
		}
		return hashes, nil
	}))
}

// row is the row of the stored tree that has a hash, if any has.
func (r *pathReader) row(ctx context.Context, number int64) (found row, err error) {
	at := sort.Search(len(r.rows), func(i int) bool { return r.rows[i].number > number })
	if at > 0 && number < r.rows[at-1].number+int64(len(r.rows[at-1].hashes)/tlog.HashSize) {
		return r.rows[at-1], nil
	}
	err = database.ForEach(ctx, r.tree.db, func(rows *sql.Rows) error { return rows.Scan(&found.number, &found.hashes) }, `
		SELECT number, hashes
		FROM tree
		WHERE tenant = ? AND number <= ?
		ORDER BY number DESC
		LIMIT 1`, r.tree.tenant, number)
	if err != nil {
		return found, err
	}
	if len(r.rows) == mostRows {
		r.rows, at = nil, 0
	}
	r.rows = slices.Insert(r.rows, at, found)
	return found, nil
}

// torn is why a hash of the tree could not be read.
func torn(err error) error {
	if err != nil {
		return err
	}
	return errTorn
}
