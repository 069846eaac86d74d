package words

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// read finds the items that have any of the terms. It reads blocks and the items that changed since in one statement:
// between two, an item could move to the blocks, and the search would miss it.
func (p Index) read(
	ctx context.Context, tenant string, groups Groups, audience domain.Audience, m *Matches,
) (Size, error) {
	seen := scopesOf(audience)
	keys := slices.Concat(m.hashes, seen.counted, slices.Concat(seen.tiers[:]...), groups.keys())
	if m.id > 0 {
		keys = append(keys, m.id)
	}
	blocks, err := p.blocks(ctx, tenant, keys, SetsOfGroups)
	if err != nil {
		return Size{}, err
	}
	return m.match(blocks, seen, groups)
}

// seen are the sets of an audience.
type seen struct {
	counted []uint64               // each item of the audience is in one of these at least
	tiers   [domain.Tiers][]uint64 // the sets that tell an item's tier, the nearest first
}

func scopesOf(audience domain.Audience) (s seen) {
	if audience.Everything {
		s.counted = []uint64{rows.OfAll}
		for i := range s.tiers {
			s.tiers[i] = []uint64{rows.OfTier | uint64(i+1)}
		}
	}
	for _, scope := range audience.Scopes {
		key, tier := SetOf(rows.OfScope, scope), scope.Tier()-1
		s.counted, s.tiers[tier] = append(s.counted, key), append(s.tiers[tier], key)
	}
	return s
}

// match counts the audience's items in blocks, and finds those that have any of the terms and pass the filter.
func (m *Matches) match(blocks map[int64]*block, by seen, groups Groups) (Size, error) {
	var items, listed, words int64 // each scope lists its items
	for _, number := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[number]
		for _, key := range by.counted {
			if s := b.sets[key]; s != nil {
				listed, words = listed+int64(s.GetCardinality()), words+s.words
			}
		}
		items += int64(b.inAny(by.counted).GetCardinality())
		if err := m.add(number, b, by, groups); err != nil {
			return Size{}, err
		}
	}
	return Size{int(items), float64(words) / float64(max(1, listed))}, nil
}

// add counts the terms of a block, and keeps what the search needs of it.
func (m *Matches) add(number int64, b *block, by seen, groups Groups) (err error) {
	kept := &matched{number: number, lists: make([]list, len(m.hashes)), changed: map[uint16]*Entry{}}
	audience, passing := roaring.New(), b.inAll(groups)
	for i, keys := range by.tiers {
		nearest := b.inAny(keys)
		nearest.AndNot(audience)
		audience.Or(nearest)
		kept.found[i] = roaring.And(nearest, passing)
	}
	if audience.IsEmpty() {
		return nil
	}
	passing.And(audience)
	var indexed, may bitset
	passing.WriteDenseTo(may[:])
	audience.WriteDenseTo(indexed[:])
	for _, c := range b.changes {
		kept.changed[uint16(c.number)] = c.now
		indexed.remove(uint16(c.number))
	}
	if m.id > 0 {
		if named := roaring.And(b.with(m.id), passing); !named.IsEmpty() {
			m.Named = number<<blockBits | int64(named.Minimum())
		}
	}
	most := int(passing.GetCardinality())
	for i, hash := range m.hashes {
		var count int
		if kept.lists[i], count, err = newList(b.postings[hash], &indexed, &may, most); err != nil {
			return err
		}
		m.containing[i] += count
		for low, now := range kept.changed {
			if audience.Contains(uint32(low)) && now.Count(hash) > 0 {
				m.containing[i]++
			}
		}
	}
	m.blocks = append(m.blocks, kept)
	return nil
}

// each calls yield with every number of a bitmap.
func each(numbers *roaring.Bitmap, yield func(low uint32)) {
	var some [256]uint32
	for list := numbers.ManyIterator(); ; {
		n := list.NextMany(some[:])
		if n == 0 {
			return
		}
		for _, low := range some[:n] {
			yield(low)
		}
	}
}

// Rarest are the numbers of the items in blocks that have one of some terms, of which few items have any in its rows.
func Rarest(ctx context.Context, tx bun.IDB, t rows.Tables, tenant string, terms []int64) (numbers []int64, err error) {
	if len(terms) == 0 {
		return nil, nil
	}
	termOf := make(map[int64]uint64, len(terms))
	for _, term := range terms {
		termOf[int64(rowOf(uint64(term)))] = uint64(term)
	}
	in := func() *bun.SelectQuery {
		return tx.NewSelect().TableExpr("? AS c", t.Postings).Where("tenant = ?", tenant)
	}
	var found []int64
	err = in().Column("term").Where("term IN (?)", bun.List(slices.Collect(maps.Keys(termOf)))).
		GroupExpr("term").OrderExpr("sum(length(data)), term").Scan(ctx, &found)
	if err != nil || len(found) < len(termOf) { // no item in blocks has all
		return nil, err
	}
	var block int64
	var data []byte
	err = scan(ctx, in().Column("block", "data").Where("term = ?", found[0]).OrderExpr("block"), func() error {
		in, err := termsOf(uint64(found[0]), data)
		if at, has := find(in, termOf[found[0]]); has {
			err = eachPosting(in[at].postings, func(p posting) { numbers = append(numbers, block<<blockBits|int64(p.low)) })
		}
		return err
	}, &block, &data)
	return numbers, err
}

// Each passes everything that a version's index has of a tenant's items: the terms and the sets of each, with the count
// and the length of a term. What blocks have of items that changed since is left out, because their entries count. A
// set whose items have other lengths than it says is passed with the number -1. Each returns how many rows there are.
func Each(
	ctx context.Context, tx bun.IDB, t rows.Tables, tenant string, yield func(key uint64, number int64, count, words int),
) (postings, changes int64, err error) {
	changed, lengths := map[int64]bool{}, map[int64]int64{}
	from := func(table rows.Source) *bun.SelectQuery {
		return tx.NewSelect().TableExpr("? AS c", table).Where("tenant = ?", tenant)
	}
	var key, place int64
	var data sql.RawBytes
	err = scan(ctx, from(t.Changes).Column("number", "now"), func() error {
		changes++
		changed[place] = true
		now, err := decodeEntry(data)
		if now != nil {
			now.EachKey(func(key uint64) { yield(key, place, 0, 0) })
			now.Each(func(hash uint64, count int) { yield(hash, place, count, now.Words) })
		}
		return err
	}, &place, &data)
	if err != nil {
		return postings, changes, err
	}
	inOrder := from(t.Postings).Column("term", "block", "data").OrderExpr("term, block") // sets come last
	err = scan(ctx, inOrder, func() error {
		postings++
		if key == mark {
			return nil
		}
		var s set
		err := eachOf(uint64(key), data, &s, func(key uint64, p posting) {
			number := place<<blockBits | int64(p.low)
			if s.Bitmap == nil {
				lengths[number] = int64(p.words)
			}
			s.words -= lengths[number]
			if !changed[number] {
				yield(key, number, p.count, p.words)
			}
		})
		if s.Bitmap != nil && s.words != 0 {
			yield(uint64(key), -1, 0, 0)
		}
		return err
	}, &key, &place, &data)
	return postings, changes, err
}

// eachOf passes the items of a row. Those of a set have no counts and lengths.
func eachOf(row uint64, data []byte, s *set, yield func(key uint64, p posting)) (err error) {
	if row>>hashBits == 0 {
		terms, err := termsOf(row, data)
		for _, t := range terms {
			err = errors.Join(err, eachPosting(t.postings, func(p posting) { yield(t.hash, p) }))
		}
		return err
	}
	if *s, err = readSet(data); err == nil {
		each(s.Bitmap, func(low uint32) { yield(row, posting{low: int(low)}) })
	}
	return err
}

// scan calls each after it has read a row into some places.
func scan(ctx context.Context, query *bun.SelectQuery, each func() error, places ...any) error {
	found, err := query.Rows(ctx) //nolint:rowserrcheck // ScanAll does
	if err != nil {
		return err
	}
	defer found.Close()
	return database.ScanAll(ctx, found, func(row *sql.Rows) error {
		if err := row.Scan(places...); err != nil {
			return err
		}
		return each()
	})
}
