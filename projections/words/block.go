package words

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A block is a range of 65,536 numbers. Each set has one row per block in which it has items. Terms whose hashes begin
// with the same 13 bits share one: a full block has 8,192 rows of about 2 KB for them instead of 300,000 short ones.
const blockBits, rowBits = 16, 13

// rowOf is the key of the row that has a term or a set.
func rowOf(key uint64) uint64 {
	if key>>hashBits > 0 {
		return key
	}
	return key >> (hashBits - rowBits)
}

// edit is how one item changes in one term or set. An item that is put replaces itself.
type edit struct {
	key   uint64
	block int64
	low   uint16 // the item's number in the block
	put   bool
	count uint16
	words int32
}

// editsOf are the edits that turn an item's entry in the index into another one. Either may be nil.
func editsOf(edits []edit, number int64, was, now *Entry) []edit {
	at := edit{block: number >> blockBits, low: uint16(number)}
	add := func(e *Entry, put bool) {
		if e == nil {
			return
		}
		at.put, at.words, at.count = put, int32(e.Words), 0
		e.EachKey(func(key uint64) {
			at.key = key
			edits = append(edits, at)
		})
		e.Each(func(hash uint64, count int) {
			at.key, at.count = hash, uint16(count)
			edits = append(edits, at)
		})
	}
	add(was, false)
	add(now, true)
	return edits
}

// sortEdits orders edits by block, by term or set, and by number; an item is removed before it is put.
func sortEdits(edits []edit) {
	slices.SortFunc(edits, func(a, b edit) int {
		switch {
		case a.block != b.block:
			return cmp.Compare(a.block, b.block)
		case a.key != b.key:
			return cmp.Compare(a.key, b.key)
		case a.low != b.low:
			return cmp.Compare(a.low, b.low)
		case a.put == b.put:
			return 0
		case b.put:
			return -1
		}
		return 1
	})
}

// edited applies the edits of one row to its data. Without items it returns nil.
func edited(data []byte, edits []edit) ([]byte, error) {
	if edits[0].key>>hashBits > 0 {
		return editedSet(data, edits)
	}
	return editedTerms(data, edits)
}

// term is a term in a row, with the items of the block that have it.
type term struct {
	hash     uint64
	postings []byte
}

// termsOf reads the terms of a row in the order of their hashes. The row has the distance of each hash from the one
// before, the length of the postings in bytes, and the postings.
func termsOf(row uint64, data []byte) (terms []term, err error) {
	for hash := row << (hashBits - rowBits); len(data) > 0; {
		distance, n := binary.Uvarint(data)
		size, m := binary.Uvarint(data[max(0, n):])
		hash += distance
		if n <= 0 || m <= 0 || uint64(len(data)-n-m) < size || rowOf(hash) != row {
			return nil, errPostings
		}
		data = data[n+m:]
		terms, data = append(terms, term{hash, data[:size]}), data[size:]
	}
	return terms, nil
}

func find(terms []term, hash uint64) (at int, found bool) {
	return slices.BinarySearchFunc(terms, hash, func(t term, hash uint64) int { return cmp.Compare(t.hash, hash) })
}

func editedTerms(data []byte, edits []edit) (changed []byte, err error) {
	row := rowOf(edits[0].key)
	terms, err := termsOf(row, data)
	for len(edits) > 0 && err == nil {
		hash, n := edits[0].key, 1
		for n < len(edits) && edits[n].key == hash {
			n++
		}
		at, found := find(terms, hash)
		if !found {
			terms = slices.Insert(terms, at, term{hash: hash})
		}
		terms[at].postings, err = editedPostings(terms[at].postings, edits[:n])
		edits = edits[n:]
	}
	last := row << (hashBits - rowBits)
	for _, t := range terms {
		if len(t.postings) > 0 {
			changed = binary.AppendUvarint(binary.AppendUvarint(changed, t.hash-last), uint64(len(t.postings)))
			changed, last = append(changed, t.postings...), t.hash
		}
	}
	return changed, err
}

// posting is an item that has a term: its number in the block, how often it has the term, and its length. Most
// postings take two bytes: the distance from the one before with a bit that tells whether a count follows, the count
// unless it is 1, and the length.
type posting struct {
	low   int
	count int
	words int
}

// nextPosting reads the posting at a place, after one of the item at low, and returns the place that follows; false at
// the end or at an error.
func nextPosting(data []byte, at, low int) (p posting, next int, ok bool) {
	if rest := data[at:]; len(rest) > 2 && rest[0]|rest[1]|rest[2] < 0x80 { // numbers of a byte, as most are
		if p.low = low + int(rest[0]>>1); rest[0]&1 == 1 {
			p.count, p.words, next = int(rest[1]), int(rest[2]), at+3
		} else {
			p.count, p.words, next = 1, int(rest[1]), at+2
		}
		return p, next, p.count > 0 && p.low < 1<<blockBits
	}
	return longPosting(data, at, low)
}

// longPosting is nextPosting for any numbers.
func longPosting(data []byte, at, low int) (p posting, next int, ok bool) {
	ok = true
	number := func() int {
		value, n := binary.Uvarint(data[at:])
		at, ok = at+max(n, 0), ok && n > 0
		return int(value)
	}
	distance := number()
	if p.low, p.count = low+distance>>1, 1; distance&1 == 1 {
		p.count = number()
	}
	p.words = number()
	return p, at, ok && p.count > 0 && p.low < 1<<blockBits
}

// leastPosting is the least size of a posting in bytes.
const leastPosting = 2

var errPostings = errors.New("a block of the index of words cannot be read")

// eachPosting passes the postings of a row in the order of their numbers.
func eachPosting(data []byte, yield func(posting)) error {
	p := posting{low: -1}
	for at := 0; at < len(data); {
		var ok bool
		if p, at, ok = nextPosting(data, at, p.low); !ok {
			return errPostings
		}
		yield(p)
	}
	return nil
}

// appendPosting writes a posting after the one of the item at last.
func appendPosting(data []byte, last int, p posting) []byte {
	distance := uint64(p.low-last) << 1
	if p.count == 1 {
		data = binary.AppendUvarint(data, distance)
	} else {
		data = binary.AppendUvarint(binary.AppendUvarint(data, distance|1), uint64(p.count))
	}
	return binary.AppendUvarint(data, uint64(p.words))
}

func editedPostings(data []byte, edits []edit) ([]byte, error) {
	changed := make([]byte, 0, len(data)+4*len(edits))
	last := -1
	add := func(p posting) {
		changed = appendPosting(changed, last, p)
		last = p.low
	}
	apply := func(through int) {
		for ; len(edits) > 0 && int(edits[0].low) <= through; edits = edits[1:] {
			if e := edits[0]; e.put {
				add(posting{int(e.low), int(e.count), int(e.words)})
			}
		}
	}
	err := eachPosting(data, func(p posting) {
		apply(p.low - 1)
		if len(edits) == 0 || int(edits[0].low) != p.low {
			add(p)
		}
	})
	apply(1 << blockBits)
	return changed, err
}

// set is a set in one block, with the sum of its items' lengths. Its row has the sum, then the bitmap.
type set struct {
	words int64
	*roaring.Bitmap
}

// readSet reads a set, which keeps the bytes and must not be changed.
func readSet(data []byte) (set, error) {
	words, n := binary.Uvarint(data)
	if n <= 0 {
		return set{}, errPostings
	}
	numbers := roaring.New()
	if _, err := numbers.FromBuffer(data[n:]); err != nil {
		return set{}, fmt.Errorf("%w: %w", errPostings, err)
	}
	return set{int64(words), numbers}, nil
}

func editedSet(data []byte, edits []edit) ([]byte, error) {
	s := set{Bitmap: roaring.New()}
	if len(data) > 0 {
		found, err := readSet(data)
		if err != nil {
			return nil, err
		}
		s = set{found.words, found.Clone()}
	}
	for _, e := range edits {
		switch low := uint32(e.low); {
		case e.put && s.CheckedAdd(low):
			s.words += int64(e.words)
		case !e.put && s.CheckedRemove(low):
			s.words -= int64(e.words)
		}
	}
	if s.IsEmpty() {
		return nil, nil
	}
	s.RunOptimize()
	numbers, err := s.ToBytes()
	return append(binary.AppendUvarint(nil, uint64(max(0, s.words))), numbers...), err
}
