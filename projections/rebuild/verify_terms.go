package rebuild

import (
	"context"
	"database/sql"
	"errors"
	"math/bits"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// term is one occurrence in a packed row or in the index of terms. The term's hash stands for it.
type term struct {
	hash   uint64
	scope  string
	number int64
	count  int
	words  int
}

// sum hashes an occurrence.
func (t term) sum() uint64 {
	h := words.HashOf(t.scope)
	for _, x := range [...]uint64{t.hash, uint64(t.number), uint64(t.count), uint64(t.words)} {
		// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// sums are order-independent checksums of terms, in buckets of neighbouring item numbers. There may be hundreds of
// millions of terms, and no index by item.
type sums struct {
	shift   int
	buckets []uint64
	terms   int64
}

// maxBuckets limits the memory of sums; up to so many events every item has its own bucket.
const maxBuckets = 1 << 16

func newSums(head int64) sums {
	shift := max(0, bits.Len64(uint64(head))-bits.Len64(maxBuckets-1))
	return sums{shift: shift, buckets: make([]uint64, head>>shift+2)}
}

// bucket is the bucket of a number; numbers that no item can have share the last one.
func (s *sums) bucket(number int64) int {
	last := len(s.buckets) - 1
	if number < 0 || number>>s.shift > int64(last) {
		return last
	}
	return int(number >> s.shift)
}

func (s *sums) add(t term) {
	s.buckets[s.bucket(t.number)] += t.sum()
	s.terms++
}

func (s *sums) addAll(other sums) {
	for i, sum := range other.buckets {
		s.buckets[i] += sum
	}
	s.terms += other.terms
}

func (s *sums) total() (total uint64) {
	for _, sum := range s.buckets {
		total += sum
	}
	return total
}

// wordSums are checksums of the terms that the log gives, that the new version has, and that the active one has.
type wordSums struct {
	want, have, was sums
	items           []int64 // of each bucket
}

func newWordSums(head int64) *wordSums {
	w := &wordSums{want: newSums(head), have: newSums(head), was: newSums(head)}
	w.items = make([]int64, len(w.want.buckets))
	return w
}

// addAll adds the sums of another worker.
func (w *wordSums) addAll(other *wordSums) {
	w.want.addAll(other.want)
	w.have.addAll(other.have)
	w.was.addAll(other.was)
	for i, items := range other.items {
		w.items[i] += items
	}
}

// expect adds the terms of an item.
func (w *wordSums) expect(k *domain.Knowledge, terms words.ItemTerms) {
	if !rows.IsLive(k) {
		return
	}
	w.items[w.want.bucket(k.Number)]++
	termsOf(k, terms, w.want.add)
}

func termsOf(k *domain.Knowledge, terms words.ItemTerms, each func(term)) {
	for _, scope := range k.Scopes {
		terms.Each(func(hash uint64, count int) {
			each(term{hash: hash, scope: string(scope), number: k.Number, count: count, words: terms.Words})
		})
	}
}

// words compares the terms of a tenant, after packed rows were added slice by slice.
func (e *verification) words(ctx context.Context, tenant string, w *wordSums) error {
	inBags := w.have.terms
	if err := e.readBoth(ctx, tenant, w); err != nil {
		return err
	}
	e.inTerms += w.have.terms - inBags
	e.report.Rows["terms"] += w.have.terms
	e.sums["terms"] += w.have.total()
	for i, have := range w.have.buckets {
		if e.old != nil && have != w.was.buckets[i] {
			e.report.Changed["terms"] += max(1, w.items[i])
		}
		if have != w.want.buckets[i] && len(e.report.Wrong) < maxWrong {
			if err := e.wrongWords(ctx, tenant, w.have.shift, int64(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readBoth reads the indexes of terms of both versions, in parallel if the snapshot has two transactions.
func (e *verification) readBoth(ctx context.Context, tenant string, w *wordSums) error {
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(min(len(e.snapshot.Transactions), 2))
	reading.Go(func() error { return e.readTerms(ctx, e.tx, e.new, tenant, w.have.add) })
	if e.old != nil {
		last := e.snapshot.Transactions[len(e.snapshot.Transactions)-1]
		reading.Go(func() error {
			_, err := e.readActive(ctx, last, func() error { return e.readTerms(ctx, last, *e.old, tenant, w.was.add) })
			return err
		})
	}
	return reading.Wait()
}

// readTerms reads the index of terms, except for items with packed rows. Those were read already, and the index may
// have some of their terms.
func (e *verification) readTerms(ctx context.Context, tx bun.IDB, v catalogue.Version, tenant string, each func(term),
	conditions ...func(*bun.SelectQuery),
) (err error) {
	var numbers []int64
	err = tx.NewSelect().TableExpr("?", v.Tables.Scopes).ColumnExpr("DISTINCT number").
		Where("tenant = ?", tenant).Where("bag IS NOT NULL").Scan(ctx, &numbers)
	if err != nil {
		return rows.Failed(ctx, "read numbers of packed rows", err)
	}
	packed := make(map[int64]struct{}, len(numbers))
	for _, number := range numbers {
		packed[number] = struct{}{}
	}
	query := tx.NewSelect().TableExpr("? AS t", v.Tables.Terms).Column("term", "scope", "number", "count", "words").
		Where("tenant = ?", tenant)
	for _, narrow := range conditions {
		narrow(query)
	}
	list, err := query.Rows(ctx)
	if err != nil {
		return rows.Failed(ctx, "read terms", err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	var scope sql.RawBytes
	var t term
	for list.Next() {
		if err := list.Scan(&t.hash, &scope, &t.number, &t.count, &t.words); err != nil {
			return err
		}
		if t.scope != string(scope) {
			t.scope = string(scope)
		}
		if _, is := packed[t.number]; !is {
			each(t)
		}
	}
	return list.Err()
}

// wrongWords names the items of a bucket whose terms are wrong. Their texts were compared before.
func (e *verification) wrongWords(ctx context.Context, tenant string, shift int, bucket int64) error {
	low, high := bucket<<shift, (bucket+1)<<shift
	within := func(query *bun.SelectQuery) { query.Where("number >= ?", low).Where("number < ?", high) }
	known := len(e.report.Wrong)
	query := e.tx.NewSelect().Model((*rows.Row)(nil)).ModelTableExpr("? AS k", e.new.Tables.Knowledge).
		Where("tenant = ?", tenant)
	within(query)
	list, err := e.catalogue.ViewOf(e.new, e.tx).Read(ctx, query.OrderExpr("number"))
	if err != nil {
		return rows.Failed(ctx, "read a version", err)
	}
	differences := map[int64]uint64{}
	have := func(t term) { differences[t.number] += t.sum() }
	scopes := e.tx.NewSelect().TableExpr("? AS s", e.new.Tables.Scopes).Column(rows.ScopesColumns...).Column("bag").
		Where("tenant = ?", tenant)
	within(scopes)
	if _, err := scanRows(ctx, scopes, scanScope(have)); err != nil {
		return rows.Failed(ctx, "read a version", err)
	}
	if err := e.readTerms(ctx, e.tx, e.new, tenant, have, within); err != nil {
		return err
	}
	for i := range list {
		k := list[i].Knowledge()
		if list[i].Broken {
			e.addWrong("tenant %s, item %s: its words are not compared, because its row of knowledge cannot be read",
				tenant, k.ID)
			delete(differences, k.Number)
			continue
		}
		if rows.IsLive(k) {
			termsOf(k, words.ItemTermsOf(e.new.Tokenizer, k), func(t term) { differences[t.number] -= t.sum() })
		}
		if differences[k.Number] != 0 {
			e.addWrong("tenant %s, item %s: its words are not indexed as the log says", tenant, k.ID)
		}
		delete(differences, k.Number)
	}
	for number, sum := range differences {
		if sum != 0 {
			e.addWrong("tenant %s: words of number %d are indexed, which is no item", tenant, number)
		}
	}
	if len(e.report.Wrong) == known { // the last bucket has all numbers without an item
		e.addWrong("tenant %s: words are indexed of numbers that no item has", tenant)
	}
	return nil
}
