package proof

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
)

// databaseVerifier reads a database for its verification, in one transaction with one snapshot.
type databaseVerifier struct {
	db           *database.DB
	verification Verification
	outside      map[string][]signed

	tx       bun.Tx
	readable []string            // the tables in which tenants were looked for
	naming   map[string][]string // those that name a tenant without a log
	total    int64
	done     int64
}

const (
	chunkRecords = 500
	chunkRows    = 16 // of up to 256 events each
)

func (l *databaseVerifier) read(ctx context.Context, emit func(*chunk) error) (err error) {
	tx, err := beginSnapshot(ctx, l.db.DB, l.db.Engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	l.tx = tx
	tenants, err := l.tenants(ctx)
	if err != nil {
		return fmt.Errorf("list tenants: %w", err)
	}
	for _, tenant := range tenants {
		if err := l.readTenant(ctx, tenant, emit); err != nil {
			return err
		}
	}
	return nil
}

// tenants are all tenants in the four tables, and those that only other tables name. It counts their events.
func (l *databaseVerifier) tenants(ctx context.Context) ([]string, error) {
	var all []string
	for _, table := range []string{"events", "event_texts", "tree", "signed_checkpoints"} {
		named, err := namesIn(ctx, l.tx, tenantsIn(table))
		if err != nil {
			return nil, err
		}
		all = append(all, named...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var err error
	if l.naming, err = l.missingTenants(ctx, all); err != nil {
		return nil, err
	}
	all = slices.AppendSeq(all, maps.Keys(l.naming))
	slices.Sort(all)
	for _, tenant := range all {
		var head int64
		err := database.ForEach(ctx, l.tx, func(rows *sql.Rows) error { return rows.Scan(&head) }, headQuery, tenant)
		if err != nil {
			return nil, err
		}
		l.total += head
	}
	return all, nil
}

func (l *databaseVerifier) readTenant(ctx context.Context, tenant string, emit func(*chunk) error) error {
	var position, number int64 // how far the log, and the tree, were read
	cp := &checkpoints{live: l, tenant: tenant, outside: slices.Clone(l.outside[tenant])}
	slices.SortStableFunc(cp.outside, func(a, b signed) int { return int(a.size - b.size) })
	texts := int64(0)
	for {
		c := &chunk{tenant: tenant}
		if err := l.readRecords(ctx, c, position); err != nil {
			return fmt.Errorf("read tenant %s after position %d: %w", tenant, position, err)
		}
		ended := len(c.records) < chunkRecords
		for _, r := range c.records {
			if r.text.present {
				texts++
			}
		}
		if len(c.records) > 0 {
			position = c.records[len(c.records)-1].position
		}
		l.done += int64(len(c.records))
		if l.verification.Progress != nil {
			l.verification.Progress(l.done, max(l.total, l.done))
		}
		for { // the tree over the records and, at the end, any rows beyond them
			full, err := l.readRows(ctx, c, number, position, ended)
			if err == nil {
				err = cp.read(ctx, c, ended && !full)
			}
			if err != nil {
				return fmt.Errorf("read the tree of tenant %s: %w", tenant, err)
			}
			if len(c.rows) > 0 {
				last := c.rows[len(c.rows)-1]
				number = last.number + int64(len(last.hashes)/tlog.HashSize)
			}
			if !full {
				break
			}
			// Read the tree first: the records are compared with it.
			records := c.records
			c.records = nil
			if err := emit(c); err != nil {
				return err
			}
			c = &chunk{tenant: tenant, bytes: c.bytes, records: records}
		}
		if c.last = ended; ended {
			c.naming = l.naming[tenant]
			var err error
			if c.strays, err = l.orphanTexts(ctx, tenant, texts); err != nil {
				return fmt.Errorf("read the texts of tenant %s: %w", tenant, err)
			}
			if c.beyond, err = l.lastPositions(ctx, tenant, position); err != nil {
				return fmt.Errorf("look who has read more of tenant %s: %w", tenant, err)
			}
			if c.lost, err = l.lost(ctx, tenant); err != nil {
				return fmt.Errorf("look what was signed of tenant %s: %w", tenant, err)
			}
		}
		if err := emit(c); err != nil || ended {
			return err
		}
	}
}

func (l *databaseVerifier) readRecords(ctx context.Context, c *chunk, after int64) error {
	var s stored
	return database.ForEach(ctx, l.tx, func(rows *sql.Rows) error {
		if err := rows.Scan(s.targets()...); err != nil {
			return err
		}
		c.add(&s)
		return nil
	}, selectRecords, c.tenant, after, chunkRecords)
}

// readRows reads the rows of the tree up to a position, or to the tree's end. There is more if the chunk is full.
func (l *databaseVerifier) readRows(ctx context.Context, c *chunk, number, position int64, toEnd bool) (full bool,
	err error,
) {
	before := tlog.StoredHashCount(position)
	if toEnd {
		before = 1<<63 - 1
	}
	err = database.ForEach(ctx, l.tx, func(rows *sql.Rows) error {
		var r row
		err := rows.Scan(&r.number, &r.size, &r.hashes)
		c.rows = append(c.rows, r)
		return err
	}, `
		SELECT number, size, hashes
		FROM tree
		WHERE tenant = ? AND number >= ? AND number < ?
		ORDER BY number
		LIMIT ?`, c.tenant, number, before, chunkRows)
	return len(c.rows) == chunkRows, err
}

// orphanTexts are the positions of texts without an event. It searches only if there are more texts than events with
// one.
func (l *databaseVerifier) orphanTexts(ctx context.Context, tenant string, texts int64) ([]int64, error) {
	var count int64
	err := database.ForEach(ctx, l.tx, func(rows *sql.Rows) error { return rows.Scan(&count) }, `
		SELECT count(*)
		FROM event_texts
		WHERE tenant = ?`, tenant)
	if err != nil || count <= texts {
		return nil, err
	}
	var positions []int64
	err = database.ForEach(ctx, l.tx, func(rows *sql.Rows) error {
		var position int64
		err := rows.Scan(&position)
		positions = append(positions, position)
		return err
	}, `
		SELECT t.position
		FROM event_texts AS t
		LEFT JOIN events AS e ON e.tenant = t.tenant AND e.position = t.position
		WHERE t.tenant = ? AND e.position IS NULL
		ORDER BY t.position
		LIMIT ?`, tenant, mostFaults)
	return positions, err
}

// checkpoints reads the signed checkpoints of one tenant's log, in order of size.
type checkpoints struct {
	live    *databaseVerifier
	tenant  string
	outside []signed

	size   int64
	signer string
}

// read reads the checkpoints of the sizes in a chunk and, at the end, all others.
func (cp *checkpoints) read(ctx context.Context, c *chunk, toEnd bool) error {
	through := int64(1<<63 - 1)
	if !toEnd {
		if len(c.rows) == 0 {
			return nil
		}
		through = c.rows[len(c.rows)-1].size
	}
	err := database.ForEach(ctx, cp.live.tx, func(rows *sql.Rows) error {
		var s signed
		err := rows.Scan(&s.size, &s.signer, &s.note)
		c.signed = append(c.signed, s)
		cp.size, cp.signer = s.size, s.signer
		return err
	}, `
		SELECT size, signer, note
		FROM signed_checkpoints
		WHERE tenant = ? AND (size > ? OR size = ? AND signer > ?) AND size <= ?
		ORDER BY size, signer`, cp.tenant, cp.size, cp.size, cp.signer, through)
	for len(cp.outside) > 0 && cp.outside[0].size <= through {
		c.signed = append(c.signed, cp.outside[0])
		cp.outside = cp.outside[1:]
	}
	slices.SortStableFunc(c.signed, func(a, b signed) int { return int(a.size - b.size) })
	return err
}
