package proof

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
)

// Name is the name of the tree's checkpoints and status.
const Name = "proof"

// rowSize limits the hashes in one row of the tree.
const rowSize = 256

// halt is an error that retries cannot fix: the tree stops until an operator repairs it.
type halt string

func (h halt) Error() string { return string(h) }

// Is makes followers of the log stop, too, without skipping events.
func (h halt) Is(target error) bool { return target == events.ErrRestored }

// Unwrap lets callers recognise it.
func (h halt) Unwrap() error {
	return domain.Refuse(domain.ErrBroken, "%s",
		string(h)).WithFix("annals verify names what else is not as it was; a backup from before has it")
}

// The reasons for a halt.
const (
	errTorn      halt = "the stored tree is damaged: annals verify names the place"
	errRewritten halt = "the log was rewritten: annals verify names the place"
)

// grow adds the events up to the end of a page to the tree, in the transaction that moves the checkpoint. It needs
// only the hashes of events, and skips none. After the checkpoint was set back, it compares the events that the tree
// already has.
func (p *Prover) grow(ctx context.Context, tx bun.IDB, page follow.Page) error {
	t := tree{db: tx, tenant: page.Tenant}
	x, err := t.extent(ctx)
	if err != nil {
		return fmt.Errorf("read the size of the tree: %w", err)
	}
	if err := x.whole(); err != nil {
		return err
	}
	known := 0
	for known < len(page.Events) && page.Events[known].Position <= x.tree {
		known++
	}
	if err := t.compare(ctx, page.Events[:known]); err != nil {
		return err
	}
	return t.extend(ctx, page.Last().Position, page.Events)
}

// reach extends the tree to a size at once, for callers that cannot wait for the handler.
func (p *Prover) reach(ctx context.Context, tenant string, atLeast int64) (size int64, err error) {
	const step = 20 * rowSize // in one transaction
	for {
		if size, err = p.tree(tenant).size(ctx); err != nil || size >= atLeast {
			return size, err
		}
		err = p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
			return tree{db: tx, tenant: tenant}.extend(ctx, min(atLeast, size+step), nil)
		})
		if err != nil && !errors.Is(err, database.ErrOutcomeUnknown) {
			return size, err
		}
	}
}

// extend adds the events up to a position to the tree. It takes hashes from atHand if possible, and reads the others.
// Another server may do the same: each row is inserted once.
func (t tree) extend(ctx context.Context, through int64, atHand []domain.Event) error {
	for before := int64(-1); ; {
		size, err := t.size(ctx)
		if err != nil || size >= through {
			return err
		}
		if size == before { // the inserted rows are not at the end
			return errTorn
		}
		before = size
		hashes := hashesAmong(atHand, size)
		if len(hashes) == 0 {
			hashes, err = t.hashesAfter(ctx, size, min(through, size+rowSize))
		}
		if err == nil {
			err = t.append(ctx, size, hashes)
		}
		if err != nil {
			return err
		}
	}
}

// hashesAmong are the hashes of the records after a position, if atHand has them.
func hashesAmong(atHand []domain.Event, after int64) (hashes [][]byte) {
	for _, event := range atHand {
		if event.Position == after+int64(len(hashes))+1 {
			hashes = append(hashes, event.Hash)
		}
	}
	return hashes
}

// hashesAfter reads the hashes of the events after a position, up to another.
func (t tree) hashesAfter(ctx context.Context, after, through int64) (hashes [][]byte, err error) {
	err = database.ForEach(ctx, t.db, func(rows *sql.Rows) error {
		var position int64
		var hash []byte
		err := rows.Scan(&position, &hash)
		if hashes = append(hashes, hash); err == nil && position != after+int64(len(hashes)) {
			err = fmt.Errorf("%w: tenant %s, position %d", events.ErrHole, t.tenant, after+int64(len(hashes)))
		}
		return err
	}, `
		SELECT position, hash
		FROM events
		WHERE tenant = ? AND position > ? AND position <= ?
		ORDER BY position`, t.tenant, after, through)
	if err == nil && int64(len(hashes)) != through-after {
		err = fmt.Errorf("%w: tenant %s, position %d", events.ErrHole, t.tenant, after+int64(len(hashes))+1)
	}
	if err != nil {
		return nil, fmt.Errorf("read the hashes of events: %w", err)
	}
	return hashes, nil
}

// compare checks that events are the leaves of the tree.
func (t tree) compare(ctx context.Context, all []domain.Event) error {
	for len(all) > 0 {
		some := all[:min(len(all), 100)]
		numbers := make([]int64, len(some))
		for i, event := range some {
			numbers[i] = tlog.StoredHashIndex(0, event.Position-1)
		}
		leaves, err := t.hashes(ctx, numbers)
		if err != nil {
			return fmt.Errorf("read leaves: %w", err)
		}
		for i, event := range some {
			if leaves[i] != tlog.RecordHash(event.Hash) {
				return fmt.Errorf("%w: tenant %s, position %d is not the event that is in the tree", errRewritten, t.tenant,
					event.Position)
			}
		}
		all = all[len(some):]
	}
	return nil
}

// append adds rows for events, given by their record hashes, to the end of the tree. It stops if another server has
// added them.
func (t tree) append(ctx context.Context, size int64, records [][]byte) error {
	f, err := t.frontier(ctx, size)
	if err != nil {
		return fmt.Errorf("read the edge of the tree: %w", err)
	}
	for some := range slices.Chunk(records, rowSize) {
		number := tlog.StoredHashCount(f.size)
		var stored []tlog.Hash
		for _, hash := range some {
			stored = f.add(tlog.RecordHash(hash), stored)
		}
		bytes := make([]byte, 0, len(stored)*tlog.HashSize)
		for _, hash := range stored {
			bytes = append(bytes, hash[:]...)
		}
		result, err := t.db.(bun.IDB).ExecContext(ctx, `
			INSERT INTO tree (tenant, number, size, hashes)
			VALUES (?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, t.tenant, number, f.size, bytes)
		if err != nil {
			return fmt.Errorf("append to the tree: %w", err)
		}
		if inserted, err := result.RowsAffected(); err != nil || inserted == 0 {
			return err
		}
	}
	return nil
}
