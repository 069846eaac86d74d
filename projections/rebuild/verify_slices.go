package rebuild

import (
	"context"
	"fmt"
	"sync"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/words"
)

// page is a part of a slice to compare: what the log gives, what the new version has, and what the old one had.
type page struct {
	want, have, was *image // was is nil where the old version is not compared
	unread          bool   // the old version cannot be read
	streams, bytes  int
}

// sliceVerifier reads slices of a tenant's log and their rows in a transaction of its own.
type sliceVerifier struct {
	*verification
	tx  bun.Tx
	log events.Snapshot

	words    *wordSums
	erased   erasures
	searches searchSample
}

// slices compares the rows of all items of a tenant. Each transaction of the snapshot reads one slice at a time; what
// was read is compared one after the other.
func (e *verification) slices(ctx context.Context, h head) (*wordSums, erasures, error) {
	cutting := pager{verification: e, head: h, size: firstPage}
	all := make([]*sliceVerifier, len(e.snapshot.Transactions))
	var noting sync.Mutex
	working, ctx := errgroup.WithContext(ctx)
	for i, tx := range e.snapshot.Transactions {
		all[i] = &sliceVerifier{
			verification: e, tx: tx, log: events.SnapshotOf(tx), words: newWordSums(h.Position),
			erased: erasures{},
		}
		working.Go(func() error {
			for {
				slice, found, err := cutting.next(ctx, all[i].log)
				if err != nil || !found {
					return err
				}
				read, err := all[i].read(ctx, slice, h.Position)
				if err != nil {
					return err
				}
				cutting.resize(read)
				noting.Lock()
				e.note(slice.Tenant, read)
				noting.Unlock()
				e.compared(int64(read.streams))
			}
		})
	}
	if err := working.Wait(); err != nil {
		return nil, nil, err
	}
	for _, other := range all[1:] {
		all[0].words.addAll(other.words)
		for id := range other.erased {
			all[0].erased[id] = true
		}
	}
	for _, one := range all {
		for _, chosen := range one.searches.sampled {
			e.searches.sample(chosen)
		}
	}
	return all[0].words, all[0].erased, nil
}

// pager cuts a tenant's streams into slices.
type pager struct {
	*verification
	head head

	mu    sync.Mutex
	after string
	size  int
	done  bool
}

func (c *pager) next(ctx context.Context, log events.Snapshot) (slice events.Slice, found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return slice, false, nil
	}
	slice, found, err = log.NextSlice(ctx, c.head.Tenant, domain.KnowledgeStream(""), c.after, c.size)
	if err != nil {
		return slice, false, err
	}
	if !found { // rows after the last stream would be superfluous
		c.done = true
		slice = events.Slice{Tenant: c.head.Tenant, After: slice.After, Through: domain.KnowledgeStream("\U0010FFFF")}
	}
	c.after = slice.Through
	return slice, true, nil
}

// resize adapts the size of slices to the bytes of text in one.
func (c *pager) resize(read page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if read.streams > 0 {
		fitting := int(float64(read.streams) * pageBytes / float64(max(read.bytes, 1)))
		c.size = min(max(fitting, 1), 2*c.size, maxPage)
	}
}

// read reads a range of items.
func (e *sliceVerifier) read(ctx context.Context, s events.Slice, upTo int64) (read page, err error) {
	read.want = &image{}
	for f, err := range foldStreams(e.log.InSlice(ctx, s, upTo), e.new.Policy) {
		if err != nil {
			return read, err
		}
		terms := words.ItemTermsOf(e.new.Tokenizer, f.item)
		if err := read.want.addRows(s.Tenant, f.item, terms.Words); err != nil {
			return read, err
		}
		e.words.expect(f.item, terms)
		e.erased.add(f.erased)
		e.searches.consider(s.Tenant, f.item)
		read.bytes += len(f.item.Text.Content) + len(f.item.Text.Overview) + 1000*(1+len(f.item.Votes))
	}
	read.streams = s.Streams
	if read.have, err = imageOf(ctx, e.catalogue, e.tx, e.new, s, e.words.have.add); err != nil || e.old == nil {
		return read, err
	}
	read.unread, err = e.readActive(ctx, e.tx, func() (err error) {
		read.was, err = imageOf(ctx, e.catalogue, e.tx, *e.old, s, e.words.was.add)
		if err == nil && len(read.was.unreadable) > 0 {
			err = fmt.Errorf("read a version: item %s: %w", read.was.unreadable[0][1], domain.ErrBroken)
		}
		return err
	})
	return read, err
}

// note compares what was read.
func (e *verification) note(tenant string, read page) {
	e.report.Items += int64(len(read.want.knowledge))
	e.compare(tenant, read.want, read.have)
	switch {
	case read.unread:
		e.report.Changed["(not compared)"] += int64(len(read.want.knowledge))
	case read.was != nil:
		e.difference(read.was, read.have)
	}
}
