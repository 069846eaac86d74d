package words

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Groups are keys of sets. An item passes if it is in any set of each group.
type Groups [][]uint64

// GroupsOf are the sets of a filter. rest is the part of the filter that sets cannot tell.
func GroupsOf(f domain.Filter) (groups Groups, rest domain.Filter) {
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
func group[T ~string](groups Groups, kind uint64, values ...T) Groups {
	if len(values) == 0 || values[0] == "" {
		return groups
	}
	keys := make([]uint64, len(values))
	for i, value := range values {
		keys[i] = keyOf(kind, value)
	}
	return append(groups, keys)
}

// In adds that an item is in the audience.
func (g Groups) In(audience domain.Audience) Groups {
	if audience.Everything {
		return append(g, []uint64{ofAll})
	}
	return append(g, slices.Concat(group(nil, ofScope, audience.Scopes...)...))
}

// SeenBy adds that a principal may see an item.
func (g Groups) SeenBy(by domain.Principal) Groups {
	if by.SeesAll() {
		return append(g, []uint64{ofAll})
	}
	owned := group(nil, ofOwner, by.Entities()...)
	return append(g, slices.Concat(group(owned, ofScope, rows.ScopesOf(by)...)...))
}

// Chosen are the numbers of items, and the sets that they are in, at one moment. An item whose number has more than 32
// bits is left out.
type Chosen struct {
	*roaring.Bitmap

	sets map[uint64]*roaring.Bitmap // whether chosen or not
}

// Choose reads the items that are in any set of each group. With every set, it also reads which sets they are in,
// otherwise only for the sets of the groups.
func (p Index) Choose(ctx context.Context, tenant string, groups Groups, everySet bool) (Chosen, error) {
	chosen, from := Chosen{roaring.New(), map[uint64]*roaring.Bitmap{}}, uint64(0)
	if everySet {
		from = ofAll
	}
	blocks, err := p.blocks(ctx, tenant, slices.Concat(groups...), from)
	if err != nil {
		return chosen, rows.Failed(ctx, "read sets of items", err)
	}
	for number, b := range blocks {
		beginning := number << blockBits
		chosen.Or(roaring.AddOffset64(b.inAll(groups), beginning))
		for key, s := range b.sets {
			chosen.set(key).Or(roaring.AddOffset64(s.Bitmap, beginning))
		}
	}
	return chosen, nil
}

func (c Chosen) set(key uint64) *roaring.Bitmap {
	if c.sets[key] == nil {
		c.sets[key] = roaring.New()
	}
	return c.sets[key]
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

// blocks reads terms and sets, and with from also all sets from that key on. It reads blocks and the items that changed
// since in one statement: between two, an item could move to the blocks, and would be missed.
func (p Index) blocks(ctx context.Context, tenant string, keys []uint64, from uint64) (map[int64]*block, error) {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	const changed = -1 // in place of a term
	none, wanted := bun.Safe("NULL"), bun.SafeQuery("term IN (?)", bun.List(keys))
	if from > 0 {
		wanted = bun.SafeQuery("term >= ?", int64(from))
	}
	if p.IsPostgres() {
		none = "NULL::bytea"
	}
	query := p.DB.NewRaw(`
		SELECT term, block, data, ? FROM ? WHERE tenant = ? AND ?
		UNION ALL
		SELECT ?, number, now, was FROM ? WHERE tenant = ?`,
		none, p.Tables.Postings, tenant, wanted, changed, p.Tables.Changes, tenant)
	found, err := p.From.QueryContext(ctx, query.String())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	blocks := map[int64]*block{}
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
		b := blocks[number]
		if b == nil {
			b = &block{map[uint64][]byte{}, map[uint64]*set{}, nil}
			blocks[number] = b
		}
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
			b.postings[uint64(key)] = bytes.Clone(data)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, b := range blocks {
		b.update(func(key uint64) bool {
			_, found := slices.BinarySearch(keys, key)
			return found || from > 0 && key >= from
		})
	}
	return blocks, found.Err()
}

// update applies the changes to the sets that were asked for.
func (b *block) update(asked func(key uint64) bool) {
	for _, c := range b.changes {
		low := uint32(uint16(c.number))
		was, now := cmp.Or(c.was, &Entry{}), cmp.Or(c.now, &Entry{})
		was.EachKey(func(key uint64) {
			if s := b.sets[key]; s != nil && s.CheckedRemove(low) {
				s.words -= int64(was.Words)
			}
		})
		now.EachKey(func(key uint64) {
			if asked(key) {
				if b.sets[key] == nil {
					b.sets[key] = &set{0, roaring.New()}
				}
				b.sets[key].Add(low)
				b.sets[key].words += int64(now.Words)
			}
		})
	}
}

// inAll are the items of a block that are in any set of each group.
func (b *block) inAll(groups Groups) *roaring.Bitmap {
	var all *roaring.Bitmap
	for _, keys := range groups {
		var sets []*roaring.Bitmap
		for _, key := range keys {
			if s := b.sets[key]; s != nil {
				sets = append(sets, s.Bitmap)
			}
		}
		if either := roaring.FastOr(sets...); all == nil {
			all = either
		} else {
			all.And(either)
		}
	}
	return all
}
