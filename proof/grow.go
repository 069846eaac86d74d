package proof

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Name is under which the tree keeps its checkpoints and its lag.
const Name = "proof"

// rowSize is how many events' hashes one row of the tree holds, at most.
const rowSize = 256

// errRewritten says that the log has another event than the one in the tree.
var errRewritten = errors.New("the log was rewritten")

// grow appends a page's events to the tree, in the transaction that moves the checkpoint. What is in the
// tree already, since the checkpoint was set back, is compared instead.
func (p *Prover) grow(ctx context.Context, tx bun.IDB, page events.Page) error {
	t := tree{db: tx, tenant: page.Tenant}
	size, err := t.size(ctx)
	if err != nil {
		return fmt.Errorf("read the size of the tree: %w", err)
	}
	if size < page.After {
		return fmt.Errorf("%w: it ends at position %d, and the log was read up to %d", errTorn, size, page.After)
	}
	known := page.Events[:min(int(size-page.After), len(page.Events))]
	if err := t.compare(ctx, known); err != nil {
		return err
	}
	return t.append(ctx, size, page.Events[len(known):])
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
				return fmt.Errorf("%w: tenant %s, position %d is not the event that is in the tree", errRewritten, t.tenant, event.Position)
			}
		}
		all = all[len(some):]
	}
	return nil
}

// append adds events at the end of the tree.
func (t tree) append(ctx context.Context, size int64, all []domain.Event) error {
	if len(all) == 0 {
		return nil
	}
	f, err := t.frontier(ctx, size)
	if err != nil {
		return fmt.Errorf("read the edge of the tree: %w", err)
	}
	for len(all) > 0 {
		some := all[:min(len(all), rowSize)]
		number := tlog.StoredHashCount(f.size)
		var stored []tlog.Hash
		for _, event := range some {
			stored = f.add(tlog.RecordHash(event.Hash), stored)
		}
		bytes := make([]byte, 0, len(stored)*tlog.HashSize)
		for _, hash := range stored {
			bytes = append(bytes, hash[:]...)
		}
		_, err := t.db.(bun.IDB).ExecContext(ctx, `
			INSERT INTO tree (tenant, number, size, hashes)
			VALUES (?, ?, ?, ?)`, t.tenant, number, f.size, bytes)
		if err != nil {
			return fmt.Errorf("append to the tree: %w", err)
		}
		all = all[len(some):]
	}
	return nil
}
