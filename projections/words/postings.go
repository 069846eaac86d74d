package words

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// bitset has a bit per item of a block.
type bitset [1 << blockBits / 64]uint64

func (s *bitset) remove(low uint16) { s[low/64] &^= 1 << (low % 64) }

func (s *bitset) has(low uint16) bool { return s[low/64]>>(low%64)&1 == 1 }

// list are the postings of a term in a block, prepared for looking items up.
type list struct {
	data     []byte
	places   []place
	shortest [4]int // the least length of an item with a count of 1, 2, 3, and more
	most     int    // the greatest count
}

// place is where a posting begins, and the item before it.
type place struct{ low, at int32 }

// spacing is how many postings there are from one place to the next.
const spacing = 32

// newList reads postings, and counts the items of an audience. If there are many more than items that pass, of which
// there are at most most, it keeps the postings of those only.
func newList(data []byte, audience, passing *bitset, most int) (l list, count int, err error) {
	l = list{data: data, shortest: [4]int{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}}
	few, last := leastPosting*8*most < len(data), -1
	if few {
		l.data = nil
	}
	p := posting{low: -1}
	for n, at := 0, 0; at < len(data); {
		var ok bool
		before, begin := p.low, at
		if p, at, ok = nextPosting(data, at, p.low); !ok {
			return l, 0, errPostings
		}
		if audience.has(uint16(p.low)) {
			count++
			shortest := &l.shortest[min(max(p.count, 1), len(l.shortest))-1]
			*shortest, l.most = min(*shortest, p.words), max(l.most, p.count)
		}
		if few {
			if !passing.has(uint16(p.low)) {
				continue
			}
			before, begin = last, len(l.data)
			l.data, last = appendPosting(l.data, last, p), p.low
		}
		if n%spacing == 0 {
			l.places = append(l.places, place{int32(before), int32(begin)})
		}
		n++
	}
	return l, count, nil
}

// reader reads a list in the order of its items.
type reader struct {
	*list
	posting

	at   int // of the next posting
	next int // of the places
}

func (l *list) reader() reader { return reader{list: l, posting: posting{low: -1}} }

// to reads on, and tells whether an item has the term. Each call asks for a later item.
func (r *reader) to(low int) bool {
	if ahead := r.places[r.next:]; len(ahead) > 0 && int(ahead[0].low) < low {
		n, _ := slices.BinarySearchFunc(ahead, low, func(p place, low int) int { return int(p.low) - low })
		r.next += n
		r.low, r.at = int(ahead[n-1].low), int(ahead[n-1].at)
	}
	for r.low < low && r.at < len(r.data) {
		r.posting, r.at, _ = nextPosting(r.data, r.at, r.low)
	}
	return r.low == low
}

// scored is an item with the sum of its terms.
type scored struct {
	number int64
	sum    float64
}

// compare compares items in the order of an answer.
func (s scored) compare(other scored) int {
	return cmp.Or(cmp.Compare(other.sum, s.sum), cmp.Compare(other.number, s.number))
}

// ranking finds the best items of a tier by MaxScore (Turtle and Flood, "Query evaluation: strategies and
// optimizations", 1995). What a term adds to the sum of an item has an upper bound. The commonest terms, whose bounds
// add up to less than the last of the best has, are only looked up for items that other terms bring near it.
type ranking struct {
	*Matches
	depth int
	best  []scored
	least scored // the last of the best, as soon as there are enough
	sums  *sums
}

// sums are those of the items of a block by the terms that were added up; 0 between two uses.
type sums [1 << blockBits]float64

var rooms = sync.Pool{New: func() any { return new(sums) }}

// add adds an item, and cuts the best from time to time.
func (r *ranking) add(it scored) {
	if it.sum > 0 && it.compare(r.least) < 0 {
		if r.best = append(r.best, it); len(r.best) > 2*r.depth {
			r.best = r.cut()
		}
	}
}

func (r *ranking) cut() []scored {
	slices.SortFunc(r.best, scored.compare)
	if len(r.best) >= r.depth {
		r.best = r.best[:r.depth]
		r.least = r.best[r.depth-1]
	}
	return r.best
}

// isOut tells whether an item whose terms add up to no more than a sum cannot be among the best. Sums of bounds may be
// off in their last digits.
func (r *ranking) isOut(sum float64, number int64) bool {
	sum *= 1 + 1e-9
	return sum < r.least.sum || sum == r.least.sum && number < r.least.number
}

// bound is the most that a term adds to the sum of an item of a block.
func (m *Matches) bound(term int, l *list) (bound float64) {
	for i, words := range l.shortest {
		if words < math.MaxInt {
			count := i + 1
			if count == len(l.shortest) {
				count = l.most
			}
			bound = max(bound, m.worth[term]*m.saturation(count, words))
		}
	}
	return bound
}

// rank adds the items of a tier that a block has.
func (r *ranking) rank(b *matched, items *roaring.Bitmap) {
	if items.IsEmpty() {
		return
	}
	var tier bitset
	items.WriteDenseTo(tier[:])
	number, counts := b.number<<blockBits, make([]int, len(r.Terms))
	for low := range b.changed {
		if tier.remove(low); items.Contains(uint32(low)) {
			r.add(scored{number | int64(low), r.sum(counts, r.count(number|int64(low), counts))})
		}
	}
	if len(b.lists) == 0 {
		return
	}
	rest := make([]float64, len(r.order)+1) // what the terms from one on add at most
	for i, term := range slices.Backward(r.order) {
		rest[i] = rest[i+1] + r.bound(term, &b.lists[term])
	}
	n := 0
	for n < len(r.order) && !r.isOut(rest[n], number|(1<<blockBits-1)) {
		r.addUp(r.order[n], &b.lists[r.order[n]], &tier)
		n++
	}
	readers := make([]reader, 0, len(r.order)-n)
	for _, term := range r.order[n:] {
		readers = append(readers, b.lists[term].reader())
	}
	for word, some := range tier {
	next:
		for ; some != 0; some &= some - 1 {
			low := 64*word + bits.TrailingZeros64(some)
			sum, number := r.sums[low], number|int64(low)
			if r.sums[low] = 0; sum == 0 {
				continue
			}
			for i := range readers {
				if r.isOut(sum+rest[n+i], number) {
					continue next
				}
				r.tried++
				if readers[i].to(low) {
					sum = r.plus(sum, r.order[n+i], readers[i].posting)
				}
			}
			r.add(scored{number, sum})
		}
	}
}

// addUp adds a term to the sums of a tier's items.
func (r *ranking) addUp(term int, l *list, tier *bitset) {
	p := posting{low: -1}
	for at := 0; at < len(l.data); {
		p, at, _ = nextPosting(l.data, at, p.low) // newList has read them all
		if low := uint16(p.low); tier.has(low) {
			r.sums[low] = r.plus(r.sums[low], term, p)
		}
	}
}
