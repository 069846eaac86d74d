package vectors

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/annals-kb/annals/projections/embedding"
)

// SketchIndex keeps the sketches of one scope in one array, so that a scan reads memory in order. It is not safe for
// concurrent use.
type SketchIndex struct {
	width     int // 64-bit words per sketch
	numbers   []int64
	hashes    []Hash
	bits      []uint64
	prefixes  []uint64        // the first words of long sketches: a scan reads these first
	positions map[int64][]int // where an item's pieces are
}

func NewSketchIndex(width int) *SketchIndex {
	return &SketchIndex{width: width, positions: map[int64][]int{}}
}

// bytes is about how much memory the index takes.
func (s *SketchIndex) bytes() int {
	const perPiece = 8 + len(Hash{}) + 64
	return cap(s.numbers)*perPiece + (cap(s.bits)+cap(s.prefixes))*8
}

// Add adds a piece at the end.
func (s *SketchIndex) Add(number int64, h Hash, sketch []uint64) {
	s.positions[number] = append(s.positions[number], len(s.numbers))
	s.numbers = append(s.numbers, number)
	s.hashes = append(s.hashes, h)
	s.bits = append(s.bits, sketch...)
	s.prefixes = append(s.prefixes, sketch[:s.prefixLength()]...)
}

// prefixWords is how many words of a long sketch a scan reads first.
const prefixWords = 8

// prefixLength is how many words of each sketch prefixes has; 0 for short sketches.
func (s *SketchIndex) prefixLength() int {
	if s.width < 2*prefixWords {
		return 0
	}
	return prefixWords
}

// remove removes an item's pieces, and fills the gaps with the last ones.
func (s *SketchIndex) remove(number int64) {
	places := s.positions[number]
	delete(s.positions, number)
	slices.Sort(places)
	for _, gap := range slices.Backward(places) {
		last := len(s.numbers) - 1
		if gap != last {
			moved := s.numbers[last]
			s.numbers[gap], s.hashes[gap] = moved, s.hashes[last]
			copy(s.bits[gap*s.width:(gap+1)*s.width], s.bits[last*s.width:])
			copy(s.prefixes[gap*s.prefixLength():(gap+1)*s.prefixLength()], s.prefixes[last*s.prefixLength():])
			where := s.positions[moved]
			where[slices.Index(where, last)] = gap
		}
		s.numbers, s.hashes = s.numbers[:last], s.hashes[:last]
		s.bits, s.prefixes = s.bits[:last*s.width], s.prefixes[:last*s.prefixLength()]
	}
}

// A scan over more than manyPieces reads prefixes first. It then compares whole sketches of prefixFactor times as
// many as are wanted, plus a hundredth of all.
const (
	manyPieces   = 2000
	prefixFactor = 10
)

// Closest returns the positions of the most pieces that differ least from a sketch, and of those that tie with the
// last. If wanted is not nil, it considers only pieces of these items.
func (s *SketchIndex) Closest(sketch []uint64, most int, wanted []int64) []int {
	if wanted != nil {
		among := []int{}
		for _, number := range wanted {
			among = append(among, s.positions[number]...)
		}
		return s.least(sketch, most, among)
	}
	if s.prefixLength() == 0 || len(s.numbers) <= manyPieces {
		return s.least(sketch, most, nil)
	}
	head := (*[prefixWords]uint64)(sketch)
	among := least(len(s.numbers), prefixFactor*most+len(s.numbers)/100, parallelPrefixes, func(from int, into []uint16) {
		heads := s.prefixes[from*prefixWords:]
		for i := range into {
			into[i] = uint16(prefixDistance(head, (*[prefixWords]uint64)(heads[i*prefixWords:])))
		}
	})
	return s.least(sketch, most, among)
}

// prefixDistance counts the bits in which two prefixes differ.
func prefixDistance(a, b *[prefixWords]uint64) int {
	return bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) + bits.OnesCount64(a[2]^b[2]) +
		bits.OnesCount64(a[3]^b[3]) + bits.OnesCount64(a[4]^b[4]) + bits.OnesCount64(a[5]^b[5]) +
		bits.OnesCount64(a[6]^b[6]) + bits.OnesCount64(a[7]^b[7])
}

// least returns the most nearest of some positions, or of all if among is nil, by their whole sketches.
func (s *SketchIndex) least(sketch []uint64, most int, among []int) []int {
	if among == nil {
		return least(len(s.numbers), most, parallelSketches, func(from int, into []uint16) {
			for i := range into {
				into[i] = uint16(embedding.Hamming(sketch, s.sketch(from+i)))
			}
		})
	}
	places := least(len(among), most, parallelSketches, func(from int, into []uint16) {
		for i := range into {
			into[i] = uint16(embedding.Hamming(sketch, s.sketch(among[from+i])))
		}
	})
	for i, at := range places {
		places[i] = among[at]
	}
	return places
}

func (s *SketchIndex) sketch(place int) []uint64 { return s.bits[place*s.width : (place+1)*s.width] }

// From this many on another processor helps; below, waking it takes longer. Prefixes are read in order, sketches at
// random.
const (
	parallelPrefixes = 16_000
	parallelSketches = 1000
)

// least returns the positions with the most smallest of n distances, and those that tie with the last. Many distances
// are measured in parallel.
func least(n, most, many int, measure func(from int, into []uint16)) []int {
	distances := make([]uint16, n)
	inParts(n, many, func(from, to int) { measure(from, distances[from:to]) })
	var histogram [1 << 12]int
	for _, d := range distances {
		histogram[min(int(d), len(histogram)-1)]++
	}
	farthest, found := 0, 0
	for d, pieces := range histogram {
		farthest, found = d, found+pieces
		if found >= most {
			break
		}
	}
	places := make([]int, 0, found)
	for i, d := range distances {
		if min(int(d), len(histogram)-1) <= farthest {
			places = append(places, i)
		}
	}
	return places
}

// inParts calls do for all of n, in parallel parts of at least many.
func inParts(n, many int, do func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n/many)
	if parts < 2 {
		do(0, n)
		return
	}
	var working sync.WaitGroup
	for part := range parts - 1 {
		working.Go(func() { do(part*n/parts, (part+1)*n/parts) })
	}
	do((parts-1)*n/parts, n)
	working.Wait()
}

// keepNearest keeps the most positions that a sketch query judges nearest.
func (s *SketchIndex) keepNearest(places []int, judge embedding.SketchQuery, most int) []int {
	if len(places) <= most {
		return places
	}
	type judged struct {
		place    int
		nearness float32
	}
	list := make([]judged, len(places))
	for i, place := range places {
		list[i] = judged{place, judge.Similarity(s.sketch(place))}
	}
	slices.SortFunc(list, func(a, b judged) int { return cmp.Compare(b.nearness, a.nearness) })
	kept := make([]int, most)
	for i := range kept {
		kept[i] = list[i].place
	}
	return kept
}
