package rebuild

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// termSums are checksums of a tenant's terms: those that the log gives, those that the version has, and those that the
// active one has.
type termSums struct{ want, have, was *itemSums }

// itemSums have a checksum of each item's terms, by its number: the sum of their hashes, which does not depend on their
// order. There may be hundreds of millions of terms, and no index by item. Numbers that no item can have share the
// first one.
type itemSums struct {
	items []atomic.Uint64
	terms atomic.Int64
}

func newTermSums(head int64) termSums {
	sums := func() *itemSums { return &itemSums{items: make([]atomic.Uint64, head+1)} }
	return termSums{want: sums(), have: sums(), was: sums()}
}

// addPacked adds the terms of an item in a scope.
func (s *itemSums) addPacked(scope string, number int64, terms words.ItemTerms) {
	in := words.HashOf(scope)
	terms.Each(func(hash uint64, count int) { s.add(in, hash, number, count, terms.Words) })
}

// add adds a term of an item by the hashes of the term and of the scope.
func (s *itemSums) add(scope, term uint64, number int64, count, words int) {
	h := scope
	for _, x := range [...]uint64{term, uint64(number), uint64(count), uint64(words)} {
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

// terms compares the terms of a tenant, after packed rows were added slice by slice.
func (e *verification) terms(ctx context.Context, tenant string, sums termSums) error {
	reading, reads := errgroup.WithContext(ctx)
	reading.SetLimit(min(len(e.snapshot.Transactions), 2))
	reading.Go(func() error {
		indexed, err := readTerms(reads, e.tx, e.new, tenant, sums.have)
		e.inTerms += indexed
		return err
	})
	if e.old != nil {
		last := e.snapshot.Transactions[len(e.snapshot.Transactions)-1]
		reading.Go(func() error {
			_, err := e.readActive(reads, last, func() error {
				_, err := readTerms(reads, last, *e.old, tenant, sums.was)
				return err
			})
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return err
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
		err := e.tx.NewSelect().TableExpr("?", e.new.Tables.Knowledge).Column("id").Where("tenant = ?", tenant).
			Where("number = ?", number).Scan(ctx, &id)
		switch {
		case number == 0:
			e.addWrong("tenant %s: words are indexed of numbers that no item has", tenant)
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

// readTerms adds the index of terms, except for items with packed rows. Those were read already, and the index may
// have some of their terms. It counts all rows of the index.
func readTerms(
	ctx context.Context, tx bun.IDB, v catalogue.Version, tenant string, sums *itemSums,
) (indexed int64, err error) {
	var numbers []int64
	err = tx.NewSelect().TableExpr("?", v.Tables.Scopes).ColumnExpr("DISTINCT number").
		Where("tenant = ?", tenant).Where("bag IS NOT NULL").Scan(ctx, &numbers)
	if err != nil {
		return 0, rows.Failed(ctx, "read numbers of packed rows", err)
	}
	packed := make(map[int64]bool, len(numbers))
	for _, number := range numbers {
		packed[number] = true
	}
	list, err := tx.NewSelect().TableExpr("?", v.Tables.Terms).Column("term", "scope", "number", "count", "words").
		Where("tenant = ?", tenant).Rows(ctx)
	if err != nil {
		return 0, rows.Failed(ctx, "read terms", err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	var scope sql.RawBytes
	var term uint64
	var number int64
	var count, length int
	for ; list.Next(); indexed++ {
		if err := list.Scan(&term, &scope, &number, &count, &length); err != nil {
			return indexed, err
		}
		if !packed[number] {
			sums.add(words.HashOf(string(scope)), term, number, count, length)
		}
	}
	return indexed, list.Err()
}
