package rebuild

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// termSums are checksums of a tenant's terms: those that the log gives, those that the version has, and those that the
// active one has.
type termSums struct{ want, have, was *itemSums }

// itemSums have a checksum of each item's terms and sets, by its number: the sum of their hashes, which does not depend
// on their order. There may be hundreds of millions of terms, and no index by item. Numbers that no item can have share
// the first one.
type itemSums struct {
	items []atomic.Uint64
	terms atomic.Int64
}

func newTermSums(head int64) termSums {
	sums := func() *itemSums { return &itemSums{items: make([]atomic.Uint64, head+1)} }
	return termSums{want: sums(), have: sums(), was: sums()}
}

// addEntry adds the terms and the sets of an item.
func (s *itemSums) addEntry(number int64, of words.Entry) {
	of.EachKey(func(key uint64) { s.add(key, number, 0, 0) })
	of.Each(func(hash uint64, count int) { s.add(hash, number, count, of.Words) })
}

// add adds a term of an item by its hash, or a set by its key.
func (s *itemSums) add(term uint64, number int64, count, words int) {
	h := term
	for _, x := range [...]uint64{uint64(number), uint64(count), uint64(words)} {
		// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	if number < 0 || number >= int64(len(s.items)) {
		number = 0
	}
	s.items[number].Add(h)
	s.terms.Add(1)
}

// terms compares the index of words of a tenant.
func (e *verification) terms(ctx context.Context, tenant string, sums termSums) error {
	if !e.new.Tables.HasWords() { // only a check meets such a version
		return nil
	}
	reading, reads := errgroup.WithContext(ctx)
	reading.SetLimit(min(len(e.snapshot.Transactions), 2))
	reading.Go(func() error {
		postings, changes, err := words.Each(reads, e.tx, e.new.Tables, tenant, sums.have.add)
		e.indexed, e.changed = e.indexed+postings, e.changed+changes
		return err
	})
	if e.old != nil {
		last := e.snapshot.Transactions[len(e.snapshot.Transactions)-1]
		reading.Go(func() error {
			_, err := e.readActive(reads, last, func() error {
				_, _, err := words.Each(reads, last, e.old.Tables, tenant, sums.was.add)
				return err
			})
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return rows.Failed(ctx, "read the index of words", err)
	}
	e.report.Rows["terms"] += sums.have.terms.Load()
	var wrong []int64
	for number := range sums.have.items {
		have := sums.have.items[number].Load()
		e.sums["terms"] += have
		if e.old != nil && have != sums.was.items[number].Load() {
			e.report.Changed["terms"]++
		}
		if have != sums.want.items[number].Load() && len(wrong) < maxWrong {
			wrong = append(wrong, int64(number))
		}
	}
	return e.wrongTerms(ctx, tenant, wrong)
}

// wrongTerms names the items whose terms are wrong.
func (e *verification) wrongTerms(ctx context.Context, tenant string, wrong []int64) error {
	for _, number := range wrong {
		var id string
		err := e.tx.NewSelect().TableExpr("? AS k", e.new.Tables.Knowledge).Column("id").Where("tenant = ?", tenant).
			Where("number = ?", number).Scan(ctx, &id)
		switch {
		case number == 0:
			e.addWrong("tenant %s: the index of words has numbers or lengths that no items have", tenant)
		case errors.Is(err, sql.ErrNoRows):
			e.addWrong("tenant %s: words of number %d are indexed, which is no item", tenant, number)
		case err != nil:
			return rows.Failed(ctx, "read a version", err)
		default:
			e.addWrong("tenant %s, item %s: its words are not indexed as the log says", tenant, id)
		}
	}
	return nil
}
