package words

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Groups are keys of sets and of terms. An item passes if it is in any set of each group, or has its term.
type Groups [][]uint64

// GroupsOf are the sets of a filter, as far as sets can tell: see [rows.AreToldBySets].
func GroupsOf(f domain.Filter) (groups Groups) {
	if len(f.Statuses) == 0 {
		f.Statuses = []domain.Status{domain.Active}
	}
	groups = group(groups, rows.OfStatus, f.Statuses...)
	groups = group(groups, rows.OfScope, f.Scope)
	for _, filter := range rows.Filters {
		if filter.Set > 0 {
			groups = group(groups, filter.Set, filter.Asked(&f)...)
		}
	}
	if f.NoArchives {
		groups = append(groups, []uint64{rows.OfOthers})
	}
	if len(f.PrivateOf) > 0 {
		wider := group(nil, rows.OfVisibility, domain.Shared, domain.OrgWide, domain.PublicWide)
		groups = append(groups, slices.Concat(group(wider, rows.OfOwner, f.PrivateOf...)...))
	}
	for _, tags := range f.Tagged() {
		for name, values := range tags {
			keys := []uint64{SetOf(rows.OfTagKey, name)}
			for i, value := range values {
				keys = append(keys[:i], tagKey(name, value))
			}
			groups = append(groups, keys)
		}
	}
	return groups
}

// group adds the sets of some values; an empty value asks for nothing.
func group[T ~string](groups Groups, kind uint64, values ...T) Groups {
	if len(values) == 0 || values[0] == "" {
		return groups
	}
	keys := make([]uint64, len(values))
	for i, value := range values {
		keys[i] = SetOf(kind, value)
	}
	return append(groups, keys)
}

// In adds that an item is in the audience.
func (g Groups) In(audience domain.Audience) Groups {
	if audience.Everything {
		return append(g, []uint64{rows.OfAll})
	}
	return append(g, slices.Concat(group(nil, rows.OfScope, audience.Scopes...)...))
}

// SeenBy adds that a principal may see an item.
func (g Groups) SeenBy(by domain.Principal) Groups {
	if by.SeesAll() {
		return append(g, []uint64{rows.OfAll})
	}
	owned := group(nil, rows.OfOwner, by.Entities()...)
	return append(g, slices.Concat(group(owned, rows.OfScope, rows.ScopesOf(by)...)...))
}

// Range are the keys of the sets of some kinds.
type Range struct{ from, to uint64 }

// The sets that one can ask for. Groups must be of them.
var (
	SetsOfGroups = Range{}
	ScopeSets    = Range{rows.OfAll, rows.OfTier} // and the set of all items
	AllSets      = Range{rows.OfAll, 1 << 60}
)

func (r Range) has(key uint64) bool { return r.from <= key && key < r.to }

// Chosen are the numbers of items, and the sets that they and others are in, at one moment. Numbers of more than 32
// bits are left out.
type Chosen struct {
	*roaring.Bitmap

	Sets map[uint64]*roaring.Bitmap
}

// Choose reads the items that are in any set of each group, and some sets.
func (p Index) Choose(ctx context.Context, tenant string, groups Groups, some Range) (Chosen, error) {
	c := Chosen{roaring.New(), map[uint64]*roaring.Bitmap{}}
	blocks, err := p.blocks(ctx, tenant, groups.keys(), some)
	if err != nil {
		return c, rows.Failed(ctx, "read sets of items", err)
	}
	for number, b := range blocks {
		c.Or(roaring.AddOffset64(b.inAll(groups), number<<blockBits))
		for key, s := range b.sets {
			c.set(key).Or(roaring.AddOffset64(s.Bitmap, number<<blockBits))
		}
	}
	return c, nil
}

func (c Chosen) set(key uint64) *roaring.Bitmap {
	if c.Sets[key] == nil {
		c.Sets[key] = roaring.New()
	}
	return c.Sets[key]
}

// Add adds an item that sets do not have.
func (c Chosen) Add(k *domain.Knowledge) {
	c.Bitmap.Add(uint32(k.Number))
	SetsOf(k).EachKey(func(key uint64) { c.set(key).Add(uint32(k.Number)) })
}

// Size is how many items a set has, chosen or not.
func (c Chosen) Size(key uint64) int64 {
	if c.Sets[key] == nil {
		return 0
	}
	return int64(c.Sets[key].GetCardinality())
}

// Facet has the chosen items of each set of a kind that has some.
func (c Chosen) Facet(kind uint64) map[uint64]*roaring.Bitmap {
	facet := map[uint64]*roaring.Bitmap{}
	for key, items := range c.Sets {
		if key>>hashBits == kind>>hashBits && items.Intersects(c.Bitmap) {
			facet[key] = roaring.And(items, c.Bitmap)
		}
	}
	return facet
}

// Keep leaves the newest items.
func (c Chosen) Keep(newest int64) {
	if extra := int64(c.GetCardinality()) - newest; extra > 0 {
		first, _ := c.Select(uint32(extra))
		c.RemoveRange(0, uint64(first))
	}
}

// KeepPassing leaves the items whose rows pass a filter. It does nothing if sets can tell all of the filter.
func (p Index) KeepPassing(ctx context.Context, tenant string, f domain.Filter, c Chosen) error {
	if rows.AreToldBySets(f) || c.IsEmpty() {
		return nil
	}
	var numbers []uint32
	query := p.From.NewSelect().TableExpr("?", p.Listed(f)).ColumnExpr("k.number")
	if err := p.Where(query, tenant, f).Scan(ctx, &numbers); err != nil {
		return rows.Failed(ctx, "filter", err)
	}
	c.And(roaring.BitmapOf(numbers...))
	return nil
}

// block is what is read of a block.
type block struct {
	postings map[uint64][]byte // by term
	sets     map[uint64]*set   // as they are now
	changes  []change
}

// change is an item that changed since it was indexed.
type change struct {
	number   int64
	was, now *Entry
}

// blocks reads terms and sets, or all sets of some kinds. It reads blocks and the items that changed since in one
// statement: between two, an item could move to the blocks, and would be missed.
func (p Index) blocks(ctx context.Context, tenant string, keys []uint64, some Range) (map[int64]*block, error) {
	slices.Sort(keys)
	isWanted := func(key uint64) bool {
		_, found := slices.BinarySearch(keys, key)
		return found || some.has(key)
	}
	rowsOf := make([]uint64, len(keys))
	for i, key := range keys {
		rowsOf[i] = rowOf(key)
	}
	const changed = -1 // in place of a term
	none, wanted := bun.Safe("NULL"), bun.SafeQuery("term IN (?)", bun.List(slices.Compact(rowsOf)))
	if some.to > 0 {
		wanted = bun.SafeQuery("term >= ? AND term < ?", some.from, some.to)
	}
	if p.IsPostgres() {
		none = "NULL::bytea"
	}
	query := p.DB.NewRaw(`
		SELECT term, block, data, ? FROM ? AS b WHERE tenant = ? AND ?
		UNION ALL
		SELECT ?, number, now, was FROM ? AS c WHERE tenant = ?`,
		none, p.Tables.Postings, tenant, wanted, changed, p.Tables.Changes, tenant)
	found, err := p.From.QueryContext(ctx, query.String())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	blocks := map[int64]*block{}
	at := func(number int64) *block {
		if blocks[number] == nil {
			blocks[number] = &block{map[uint64][]byte{}, map[uint64]*set{}, nil}
		}
		return blocks[number]
	}
	var key, place int64
	var data, was sql.RawBytes
	for found.Next() {
		if err := found.Scan(&key, &place, &data, &was); err != nil {
			return nil, err
		}
		number := place
		if key == changed {
			number >>= blockBits
		}
		b := at(number)
		switch {
		case key == changed:
			c := change{number: place}
			if c.now, err = decodeEntry(bytes.Clone(data)); err == nil {
				c.was, err = decodeEntry(bytes.Clone(was))
			}
			b.changes = append(b.changes, c)
		case key>>hashBits > 0:
			var s set
			s, err = readSet(bytes.Clone(data))
			b.sets[uint64(key)] = &s
		default:
			var terms []term
			terms, err = termsOf(uint64(key), bytes.Clone(data))
			for _, t := range terms {
				if isWanted(t.hash) {
					b.postings[t.hash] = t.postings
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	err = errors.Join(found.Err(), found.Close())
	if err == nil && !p.Tables.HasWords() {
		err = p.eachRow(ctx, tenant, func(c change) {
			b := at(c.number >> blockBits)
			b.changes = append(b.changes, c)
		})
	}
	for _, b := range blocks {
		b.update(isWanted)
	}
	return blocks, err
}

// eachRow makes entries of the rows, as if all items had changed since they were indexed.
func (p Index) eachRow(ctx context.Context, tenant string, yield func(change)) error {
	for after := int64(0); ; {
		page, err := p.Read(ctx, p.Items().Where("tenant = ?", tenant).Where(rows.Live).Where("number > ?", after).
			Order("number").Limit(atOnce))
		for i := range page {
			after = page[i].Number
			if !page[i].Broken {
				now := EntryOf(p.Version.Tokenizer, &page[i].Knowledge)
				yield(change{number: after, now: &now})
			}
		}
		if err != nil || len(page) == 0 {
			return err
		}
	}
}

// update applies the changes to the sets that were asked for. What the sets have of changed items does not count.
func (b *block) update(isWanted func(key uint64) bool) {
	changed := roaring.New()
	for _, c := range b.changes {
		low := uint32(uint16(c.number))
		changed.Add(low)
		was := cmp.Or(c.was, &Entry{})
		was.EachKey(func(key uint64) {
			if s := b.sets[key]; s != nil && s.Contains(low) {
				s.words -= int64(was.Words)
			}
		})
	}
	for _, s := range b.sets {
		if s.Intersects(changed) {
			s.AndNot(changed)
		}
	}
	for _, c := range b.changes {
		now := cmp.Or(c.now, &Entry{})
		now.EachKey(func(key uint64) {
			if isWanted(key) {
				if b.sets[key] == nil {
					b.sets[key] = &set{0, roaring.New()}
				}
				b.sets[key].Add(uint32(uint16(c.number)))
				b.sets[key].words += int64(now.Words)
			}
		})
	}
}

// with are the items of a block that are in a set or have a term.
func (b *block) with(key uint64) *roaring.Bitmap {
	items := roaring.New()
	if key>>hashBits > 0 {
		if s := b.sets[key]; s != nil {
			return s.Bitmap
		}
		return items
	}
	_ = eachPosting(b.postings[key], func(p posting) { items.Add(uint32(p.low)) })
	for _, c := range b.changes {
		items.Remove(uint32(uint16(c.number)))
		if c.now != nil && c.now.Count(key) > 0 {
			items.Add(uint32(uint16(c.number)))
		}
	}
	return items
}

// inAll are the items of a block that are in any set of each group.
func (b *block) inAll(groups Groups) *roaring.Bitmap {
	var all *roaring.Bitmap
	for _, keys := range groups {
		if keys[0]&lacking > 0 {
			all.AndNot(b.with(keys[0] &^ lacking))
			continue
		}
		if either := b.inAny(keys); all == nil {
			all = either
		} else {
			all.And(either)
		}
	}
	return all
}

// inAny are the items of a block that are in any of some sets.
func (b *block) inAny(keys []uint64) *roaring.Bitmap {
	sets := make([]*roaring.Bitmap, len(keys))
	for i, key := range keys {
		sets[i] = b.with(key)
	}
	return roaring.FastOr(sets...)
}
