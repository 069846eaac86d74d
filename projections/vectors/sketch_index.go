package vectors

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/words"
)

// SketchIndex keeps a tenant's sketches in one array, so that a scan reads memory in order. Each scope has the set of
// the places of its pieces in that array. It is not safe for concurrent use.
type SketchIndex struct {
	width    int // 64-bit words per sketch
	numbers  []int64
	hashes   []Hash
	bits     []uint64
	prefixes []uint64                   // the first words of long sketches: a scan reads these first
	last     map[int64]uint32           // one more than the place of an item's last piece
	previous []uint32                   // one more than the place of the item's piece before; 0 without one
	free     []uint32                   // places without a piece
	scopes   map[uint64]*roaring.Bitmap // by the key of its set in the index of words; that of the empty scope has all
}

// NewSketchIndex makes an empty index. All of its sketches have the same length.
func NewSketchIndex() *SketchIndex {
	return &SketchIndex{last: map[int64]uint32{}, scopes: map[uint64]*roaring.Bitmap{}}
}

// bytesPerPiece is about how much memory a piece takes besides its sketch.
const bytesPerPiece = 8 + len(Hash{}) + 4 + 32

// bytes is about how much memory the index takes.
func (s *SketchIndex) bytes() int {
	const perScope = 200
	all := cap(s.numbers)*bytesPerPiece + (cap(s.bits)+cap(s.prefixes))*8
	for _, places := range s.scopes {
		all += perScope + int(places.GetSizeInBytes())
	}
	return all
}

// Add adds a piece of an item that some scopes have. It adds a text of the item once.
func (s *SketchIndex) Add(number int64, h Hash, sketch []uint64, scopes ...domain.Scope) {
	known := s.places(number)
	if slices.ContainsFunc(known, func(place uint32) bool { return s.hashes[place] == h }) {
		return
	}
	s.width = len(sketch)
	if len(s.free) == 0 {
		s.free = append(s.free, uint32(len(s.numbers)))
		s.numbers, s.hashes, s.previous = append(s.numbers, 0), append(s.hashes, Hash{}), append(s.previous, 0)
		s.bits, s.prefixes = append(s.bits, sketch...), append(s.prefixes, sketch[:s.prefixLength()]...)
	}
	place := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.numbers[place], s.hashes[place], s.previous[place] = number, h, 0
	if len(known) > 0 {
		s.previous[place] = known[0] + 1
	}
	s.last[number] = place + 1
	s.write(place, sketch)
	s.scope(words.SetOfScope("")).Add(place)
	for _, scope := range scopes {
		s.scope(words.SetOfScope(scope)).Add(place)
	}
}

// manyPlaces is for how many places it takes as long to read their numbers as to look an item up.
const manyPlaces = 16

// placesOf are where the pieces of items are.
func (s *SketchIndex) placesOf(numbers *roaring.Bitmap) *roaring.Bitmap {
	var places []uint32
	if numbers.GetCardinality() < uint64(len(s.numbers)/manyPlaces) {
		for number := range roaring.Values(numbers) {
			places = append(places, s.places(int64(number))...)
		}
		return roaring.BitmapOf(places...)
	}
	wanted := numbers.ToDense()
	for place, number := range s.numbers {
		if word := number / 64; word < int64(len(wanted)) && wanted[word]>>(number%64)&1 == 1 {
			places = append(places, uint32(place))
		}
	}
	return roaring.BitmapOf(places...)
}

func (s *SketchIndex) scope(key uint64) *roaring.Bitmap {
	places := s.scopes[key]
	if places == nil {
		places = roaring.New()
		s.scopes[key] = places
	}
	return places
}

// places are where an item's pieces are.
func (s *SketchIndex) places(number int64) (places []uint32) {
	for next := s.last[number]; next > 0; next = s.previous[next-1] {
		places = append(places, next-1)
	}
	return places
}

func (s *SketchIndex) write(place uint32, sketch []uint64) {
	copy(s.bits[int(place)*s.width:], sketch)
	copy(s.prefixes[int(place)*s.prefixLength():], sketch[:s.prefixLength()])
}

// remove removes the pieces of items, and returns their texts. Nothing of them stays in memory.
func (s *SketchIndex) remove(numbers []int64) (gone []Hash) {
	removed := roaring.New()
	for _, number := range numbers {
		removed.AddMany(s.places(number))
		delete(s.last, number)
	}
	if removed.IsEmpty() {
		return nil
	}
	for _, place := range removed.ToArray() {
		gone = append(gone, s.hashes[place])
		s.numbers[place], s.hashes[place] = 0, Hash{}
		s.write(place, make([]uint64, s.width))
		s.free = append(s.free, place)
	}
	for scope, places := range s.scopes {
		if places.AndNot(removed); places.IsEmpty() {
			delete(s.scopes, scope)
		}
	}
	return gone
}

// prefixWords is how many words of a long sketch a scan reads first.
const prefixWords = 8

// prefixLength is how many words of each sketch prefixes has; 0 for short sketches.
func (s *SketchIndex) prefixLength() int { return prefixLength(s.width) }

func prefixLength(width int) int {
	if width < 2*prefixWords {
		return 0
	}
	return prefixWords
}

// A scan over more than manyPieces reads prefixes first. It then compares whole sketches of prefixFactor times as
// many as are wanted, plus a hundredth of all.
const (
	manyPieces   = 2000
	prefixFactor = 10
)

// Closest returns the places of the most pieces that differ least from a sketch, and of those that tie with the last.
func (s *SketchIndex) Closest(sketch []uint64, most int, among *roaring.Bitmap) []uint32 {
	var places []uint32 // nil for all
	pieces := int(among.GetCardinality())
	if pieces < len(s.numbers) {
		places = among.ToArray()
	}
	if prefix := s.prefixLength(); prefix > 0 && pieces > manyPieces {
		places = scan(s.prefixes, sketch[:prefix], prefixFactor*most+pieces/100, parallelPrefixes, places)
	}
	return scan(s.bits, sketch, most, parallelSketches, places)
}

// scan returns the most places of an array of sketches that differ least from one, among some places, or all if places
// is nil.
func scan(array, sketch []uint64, most, many int, places []uint32) []uint32 {
	n := len(places)
	if places == nil {
		n = len(array) / len(sketch)
	}
	found := least(n, most, many, func(from int, into []uint16) {
		for i := range into {
			place := from + i
			if places != nil {
				place = int(places[place])
			}
			into[i] = uint16(embedding.Hamming(sketch, array[place*len(sketch):(place+1)*len(sketch)]))
		}
	})
	if places != nil {
		for i, at := range found {
			found[i] = places[at]
		}
	}
	return found
}

func (s *SketchIndex) sketch(place uint32) []uint64 {
	return s.bits[int(place)*s.width : (int(place)+1)*s.width]
}

// From this many on another processor helps; below, waking it takes longer. Prefixes are read in order, sketches at
// random.
const (
	parallelPrefixes = 16_000
	parallelSketches = 1000
)

// least returns the positions with the most smallest of n distances, and those that tie with the last. Many distances
// are measured in parallel.
func least(n, most, many int, measure func(from int, into []uint16)) []uint32 {
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
	places := make([]uint32, 0, found)
	for i, d := range distances {
		if min(int(d), len(histogram)-1) <= farthest {
			places = append(places, uint32(i))
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

// nearest returns the most of some places that a sketch query judges nearest.
func (s *SketchIndex) nearest(places []uint32, judge embedding.SketchQuery, most int) []NearPiece {
	type judged struct {
		place    uint32
		nearness float32
	}
	list := make([]judged, len(places))
	for i, place := range places {
		list[i] = judged{place, judge.Similarity(s.sketch(place))}
	}
	slices.SortFunc(list, func(a, b judged) int { return cmp.Compare(b.nearness, a.nearness) })
	pieces := make([]NearPiece, min(most, len(list)))
	for i := range pieces {
		pieces[i] = s.piece(list[i].place)
	}
	return pieces
}

func (s *SketchIndex) piece(place uint32) NearPiece {
	return NearPiece{s.numbers[place], s.hashes[place]}
}
