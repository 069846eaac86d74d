package words

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// groupsOf are the sets of a filter: an item passes if it is in any set of each group. rest is the part of the filter
// that sets cannot tell.
func groupsOf(f domain.Filter) (groups [][]uint64, rest domain.Filter) {
	if len(f.Statuses) == 0 {
		f.Statuses = []domain.Status{domain.Active}
	}
	groups = group(groups, ofStatus, f.Statuses...)
	groups = group(groups, ofType, f.Types...)
	groups = group(groups, ofContextType, f.ContextTypes...)
	groups = group(groups, ofCategory, f.Categories...)
	groups = group(groups, ofOwner, f.Owner)
	groups = group(groups, ofScope, f.Scope)
	groups = group(groups, ofVisibility, f.Visibility)
	groups = group(groups, ofPolarity, f.Polarity)
	if f.NoArchives {
		groups = append(groups, []uint64{ofOthers})
	}
	if len(f.PrivateOf) > 0 {
		wider := group(nil, ofVisibility, domain.Shared, domain.OrgWide, domain.PublicWide)
		groups = append(groups, slices.Concat(group(wider, ofOwner, f.PrivateOf...)...))
	}
	for _, tags := range f.Tagged() {
		for name, values := range tags {
			keys := []uint64{keyOf(ofTagKey, name)}
			for i, value := range values {
				keys = append(keys[:i], tagKey(name, value))
			}
			groups = append(groups, keys)
		}
	}
	f.Statuses, f.Types, f.ContextTypes, f.Categories, f.Tags, f.Also = nil, nil, nil, nil, nil, nil
	f.Owner, f.Scope, f.Visibility, f.Polarity = "", "", "", ""
	return groups, f
}

// group adds the sets of some values; an empty value asks for nothing.
func group[T ~string](groups [][]uint64, kind uint64, values ...T) [][]uint64 {
	if len(values) == 0 || values[0] == "" {
		return groups
	}
	keys := make([]uint64, len(values))
	for i, value := range values {
		keys[i] = keyOf(kind, value)
	}
	return append(groups, keys)
}

// reading is what a search reads of the index, and how it counts that.
type reading struct {
	*Matches
	groups   [][]uint64
	audience []place // each item of the audience is in one of these at least
	tiers    []place // the sets that tell an item's tier, the farthest first
	blocks   map[int64]*block

	seen, listed, words int64 // items of the audience, and their lengths; each scope lists its items
}

// place is a set of a tier.
type place struct {
	key  uint64
	tier domain.Tier
}

// block is what a search reads of a block.
type block struct {
	postings [][]byte // of each term
	sets     map[uint64]set
	changes  []change
}

// change is an item that changed since it was indexed.
type change struct {
	number   int64
	was, now *Entry
}

// read finds the items that have any of the terms. It reads blocks and the items that changed since in one statement:
// between two, an item could move to the blocks, and the search would miss it.
func (p Index) read(
	ctx context.Context, tenant string, groups [][]uint64, audience domain.Audience, m *Matches,
) (Size, error) {
	r := reading{Matches: m, groups: groups, blocks: map[int64]*block{}}
	if audience.Everything {
		r.audience = []place{{ofAll, domain.TierPublic}}
		for tier := domain.TierPublic; tier > 0; tier-- {
			r.tiers = append(r.tiers, place{ofTier | uint64(tier), tier})
		}
	} else {
		for _, scope := range audience.Scopes {
			r.audience = append(r.audience, place{keyOf(ofScope, scope), scope.Tier()})
		}
		r.tiers = slices.Clone(r.audience)
		slices.SortFunc(r.tiers, func(a, b place) int { return int(b.tier) - int(a.tier) })
	}
	if err := r.scan(ctx, p, tenant); err != nil {
		return Size{}, err
	}
	room := rooms.Get().(*room)
	defer rooms.Put(room)
	for _, number := range slices.Sorted(maps.Keys(r.blocks)) {
		if err := r.match(number, r.blocks[number], room); err != nil {
			return Size{}, err
		}
	}
	return Size{int(r.seen), float64(r.words) / float64(max(1, r.listed))}, nil
}

func (r *reading) scan(ctx context.Context, p Index, tenant string) error {
	keys := slices.Clone(r.hashes)
	for _, place := range slices.Concat(r.audience, r.tiers) {
		keys = append(keys, place.key)
	}
	keys = append(keys, slices.Concat(r.groups...)...)
	slices.Sort(keys)
	const changed = -1 // in place of a term
	none := bun.Safe("NULL")
	if p.IsPostgres() {
		none = "NULL::bytea"
	}
	query := p.DB.NewRaw(`
		SELECT term, block, data, ? FROM ? WHERE tenant = ? AND term IN (?)
		UNION ALL
		SELECT ?, number, now, was FROM ? WHERE tenant = ?`,
		none, p.Tables.Postings, tenant, bun.List(slices.Compact(keys)), changed, p.Tables.Changes, tenant)
	found, err := p.From.QueryContext(ctx, query.String())
	if err != nil {
		return err
	}
	defer found.Close()
	var key, place int64
	var data, was sql.RawBytes
	for found.Next() {
		if err := found.Scan(&key, &place, &data, &was); err != nil {
			return err
		}
		number := place
		if key == changed {
			number >>= blockBits
		}
		b := r.blocks[number]
		if b == nil {
			b = &block{postings: make([][]byte, len(r.hashes)), sets: map[uint64]set{}}
			r.blocks[number] = b
		}
		if key != changed {
			err = r.addRow(b, uint64(key), bytes.Clone(data))
		} else {
			c := change{number: place}
			if c.now, err = decodeEntry(bytes.Clone(data)); err == nil {
				c.was, err = decodeEntry(bytes.Clone(was))
			}
			b.changes = append(b.changes, c)
		}
		if err != nil {
			return err
		}
	}
	return found.Err()
}

func (r *reading) addRow(b *block, key uint64, data []byte) (err error) {
	if key>>hashBits > 0 {
		b.sets[key], err = readSet(data)
		return err
	}
	for term, hash := range r.hashes {
		if hash == key {
			b.postings[term] = data
		}
	}
	return nil
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
	clear(in.changed[:])
	clear(in.matched[:])
	for _, place := range r.tiers {
		if s, found := b.sets[place.key]; found {
			each(s.Bitmap, func(low uint32) { in.tier[low] = uint8(place.tier) })
		}
	}
	r.count(b, in)
	r.filter(b, in)
	start := make([]int, len(r.hashes))
	// add adds an item of the audience that has a term. Its index is known when all items of the block are.
	add := func(term int, p posting) {
		r.containing[term]++
		if in.passing[p.low] {
			in.matched[p.low/64] |= 1 << (p.low % 64)
			in.words[p.low] = int32(p.words)
			r.found[term] = append(r.found[term], occurrence{int32(p.low), p.count})
		}
	}
	for term, data := range b.postings {
		start[term] = len(r.found[term])
		p := posting{low: -1}
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
				if count := c.now.Count(r.hashes[term]); count > 0 {
					add(term, posting{low, count, c.now.Words})
				}
			}
		}
	}
	for word, some := range in.matched {
		for ; some != 0; some &= some - 1 {
			low := 64*word + bits.TrailingZeros64(some)
			in.index[low] = int32(len(r.items))
			r.items = append(r.items, scoredItem{
				number: number<<blockBits | int64(low), words: int(in.words[low]), tier: domain.Tier(in.tier[low]),
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

// count counts the audience's items in a block and their words. Changed items count as they are now.
func (r *reading) count(b *block, in *room) {
	var sets []*roaring.Bitmap
	for _, place := range r.audience {
		s, found := b.sets[place.key]
		if found {
			sets = append(sets, s.Bitmap)
			r.listed += int64(s.GetCardinality())
			r.words += s.words
		}
		for _, c := range b.changes {
			if c.was != nil && found && s.Contains(uint32(uint16(c.number))) {
				r.listed--
				r.words -= int64(c.was.Words)
			}
			if c.now != nil && c.now.Has(place.key) {
				r.listed++
				r.words += int64(c.now.Words)
			}
		}
	}
	r.seen += int64(roaring.FastOr(sets...).GetCardinality())
	for _, c := range b.changes {
		low := uint16(c.number)
		if in.tier[low] != 0 {
			r.seen--
		}
		in.changed[low], in.tier[low] = true, 0
		for _, place := range r.tiers { // the farthest first
			if c.now != nil && c.now.Has(place.key) {
				in.tier[low] = uint8(place.tier)
			}
		}
		if in.tier[low] != 0 {
			r.seen++
		}
	}
}

// filter fills the items of a block that pass the filter.
func (r *reading) filter(b *block, in *room) {
	var passing *roaring.Bitmap
	for _, keys := range r.groups {
		var sets []*roaring.Bitmap
		for _, key := range keys {
			if s, found := b.sets[key]; found {
				sets = append(sets, s.Bitmap)
			}
		}
		if either := roaring.FastOr(sets...); passing == nil {
			passing = either
		} else {
			passing.And(either)
		}
	}
	clear(in.passing[:])
	each(passing, func(low uint32) { in.passing[low] = true })
	for _, c := range b.changes {
		in.passing[uint16(c.number)] = c.now != nil && !slices.ContainsFunc(r.groups, func(keys []uint64) bool {
			return !slices.ContainsFunc(keys, c.now.Has)
		})
	}
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

// Rarest are the numbers of the items in blocks that have the rarest of some terms.
func Rarest(ctx context.Context, tx bun.IDB, t rows.Tables, tenant string, terms []int64) (numbers []int64, err error) {
	if len(terms) == 0 {
		return nil, nil
	}
	in := func() *bun.SelectQuery {
		return tx.NewSelect().TableExpr("?", t.Postings).Where("tenant = ?", tenant)
	}
	var found []struct {
		Term  int64 `bun:"term"`
		Bytes int64 `bun:"bytes"`
	}
	err = in().ColumnExpr("term, sum(length(data)) AS bytes").Where("term IN (?)", bun.List(terms)).
		GroupExpr("term").OrderExpr("bytes, term").Scan(ctx, &found)
	if err != nil || len(found) < len(terms) { // no item in blocks has all
		return nil, err
	}
	var blocks []struct {
		Block int64  `bun:"block"`
		Data  []byte `bun:"data"`
	}
	err = in().Column("block", "data").Where("term = ?", found[0].Term).OrderExpr("block").Scan(ctx, &blocks)
	for _, b := range blocks {
		if err == nil {
			err = eachPosting(b.Data, func(p posting) { numbers = append(numbers, b.Block<<blockBits|int64(p.low)) })
		}
	}
	return numbers, err
}

// Each passes everything that a version's index has of a tenant's items: the terms and the sets of each, with the count
// and the length of a term. What blocks have of items that changed since is left out, because their entries count. A
// set whose items have other lengths than it says is passed with the number -1. Each returns how many rows there are.
func Each(
	ctx context.Context, tx bun.IDB, t rows.Tables, tenant string, yield func(key uint64, number int64, count, words int),
) (postings, changes int64, err error) {
	changed, lengths := map[int64]bool{}, map[int64]int64{}
	from := func(table bun.Ident) *bun.SelectQuery {
		return tx.NewSelect().TableExpr("?", table).Where("tenant = ?", tenant)
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
		err := eachOf(uint64(key), data, &s, func(p posting) {
			number := place<<blockBits | int64(p.low)
			if s.Bitmap == nil {
				lengths[number] = int64(p.words)
			}
			s.words -= lengths[number]
			if !changed[number] {
				yield(uint64(key), number, p.count, p.words)
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
func eachOf(key uint64, data []byte, s *set, yield func(posting)) (err error) {
	if key>>hashBits == 0 {
		return eachPosting(data, yield)
	}
	if *s, err = readSet(data); err == nil {
		each(s.Bitmap, func(low uint32) { yield(posting{low: int(low)}) })
	}
	return err
}

// scan calls each after it has read a row into some places.
func scan(ctx context.Context, query *bun.SelectQuery, each func() error, places ...any) error {
	found, err := query.Rows(ctx)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := found.Scan(places...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return found.Err()
}
