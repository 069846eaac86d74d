package words

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// reading is what a search reads of the index, and how it counts that.
type reading struct {
	*Matches
	groups   Groups
	audience []place // each item of the audience is in one of these at least
	tiers    []place // the sets that tell an item's tier, the farthest first

	seen, listed, words int64 // items of the audience, and their lengths; each scope lists its items
}

// place is a set of a tier.
type place struct {
	key  uint64
	tier domain.Tier
}

// read finds the items that have any of the terms. It reads blocks and the items that changed since in one statement:
// between two, an item could move to the blocks, and the search would miss it.
func (p Index) read(
	ctx context.Context, tenant string, groups Groups, audience domain.Audience, m *Matches,
) (Size, error) {
	r := reading{Matches: m, groups: groups}
	if audience.Everything {
		r.audience = []place{{rows.OfAll, domain.TierPublic}}
		for tier := domain.TierPublic; tier > 0; tier-- {
			r.tiers = append(r.tiers, place{rows.OfTier | uint64(tier), tier})
		}
	} else {
		for _, scope := range audience.Scopes {
			r.audience = append(r.audience, place{SetOf(rows.OfScope, scope), scope.Tier()})
		}
		r.tiers = slices.Clone(r.audience)
		slices.SortFunc(r.tiers, func(a, b place) int { return int(b.tier) - int(a.tier) })
	}
	keys := append(slices.Clone(r.hashes), r.id)
	for _, place := range slices.Concat(r.audience, r.tiers) {
		keys = append(keys, place.key)
	}
	blocks, err := p.blocks(ctx, tenant, append(keys, groups.keys()...), SetsOfGroups)
	if err != nil {
		return Size{}, err
	}
	room := rooms.Get().(*room)
	defer rooms.Put(room)
	for _, number := range slices.Sorted(maps.Keys(blocks)) {
		if err := r.match(number, blocks[number], room); err != nil {
			return Size{}, err
		}
	}
	return Size{int(r.seen), float64(r.words) / float64(max(1, r.listed))}, nil
}

// room is memory for the items of a block, by their number in it.
type room struct {
	tier    [1 << blockBits]uint8 // of an item of the audience; 0 for others
	words   [1 << blockBits]int32
	index   [1 << blockBits]int32
	changed [1 << blockBits]bool
	passing [1 << blockBits]bool
	matched [1 << blockBits / 64]uint64 // a bit per item
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// match counts the audience's items in a block, and finds those that have any of the terms and pass the filter.
func (r *reading) match(number int64, b *block, in *room) error {
	clear(in.tier[:])
	clear(in.passing[:])
	clear(in.changed[:])
	clear(in.matched[:])
	for _, place := range r.tiers {
		if s := b.sets[place.key]; s != nil {
			each(s.Bitmap, func(low uint32) { in.tier[low] = uint8(place.tier) })
		}
	}
	each(b.inAll(r.groups), func(low uint32) { in.passing[low] = true })
	for _, c := range b.changes {
		in.changed[uint16(c.number)] = true
	}
	if b.postings[r.id] != nil || len(b.changes) > 0 {
		each(b.with(r.id), func(low uint32) {
			if in.passing[low] && in.tier[low] != 0 {
				r.Named = number<<blockBits | int64(low)
			}
		})
	}
	most := r.count(b)
	start := make([]int, len(r.hashes))
	// add adds an item of the audience that has a term. Its index is known when all items of the block are.
	add := func(term int, p posting) {
		r.containing[term]++
		if in.passing[p.low] {
			in.matched[p.low/64] |= 1 << (p.low % 64)
			in.words[p.low] = int32(p.words)
			r.found[term] = append(r.found[term], occurrence{int32(p.low), int32(p.count)})
		}
	}
	for term, hash := range r.hashes {
		start[term] = len(r.found[term])
		data, p := b.postings[hash], posting{low: -1}
		r.found[term] = slices.Grow(r.found[term], min(most, len(data)/leastPosting))
		for len(data) > 0 {
			var ok bool
			if p, data, ok = nextPosting(data, p.low); !ok {
				return errPostings
			}
			if in.tier[p.low] != 0 && !in.changed[p.low] {
				add(term, p)
			}
		}
		for _, c := range b.changes {
			if low := int(uint16(c.number)); in.tier[low] != 0 {
				if count := c.now.Count(hash); count > 0 {
					add(term, posting{low, count, c.now.Words})
				}
			}
		}
	}
	matched := 0
	for _, some := range in.matched {
		matched += bits.OnesCount64(some)
	}
	r.items = slices.Grow(r.items, matched)
	for word, some := range in.matched {
		for ; some != 0; some &= some - 1 {
			low := 64*word + bits.TrailingZeros64(some)
			in.index[low] = int32(len(r.items))
			r.items = append(r.items, scoredItem{
				number: number<<blockBits | int64(low), words: in.words[low], tier: in.tier[low],
			})
		}
	}
	for term, found := range r.found {
		for i := start[term]; i < len(found); i++ {
			found[i].item = in.index[found[i].item]
		}
	}
	return nil
}

// count counts the audience's items in a block and their words. It returns the number of items.
func (r *reading) count(b *block) int {
	var sets []*roaring.Bitmap
	for _, place := range r.audience {
		if s := b.sets[place.key]; s != nil {
			sets = append(sets, s.Bitmap)
			r.listed += int64(s.GetCardinality())
			r.words += s.words
		}
	}
	some := int(roaring.FastOr(sets...).GetCardinality())
	r.seen += int64(some)
	return some
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
