package proof

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

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
