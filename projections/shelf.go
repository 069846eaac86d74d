package projections

import (
	"math/bits"
	"slices"
)

// shelf holds the sketches of one scope side by side in memory, so that a scan is a walk along an
// array. It is not safe for concurrent use.
type shelf struct {
	width   int // 64-bit words per sketch
	numbers []int64
	hashes  []hash
	bits    []uint64
	places  map[int64][]int // where an item's pieces stand
}

func newShelf(width int) *shelf { return &shelf{width: width, places: map[int64][]int{}} }

// bytes is about how much memory the shelf takes, its index included.
func (s *shelf) bytes() int {
	const perPiece = 8 + len(hash{}) + 64
	return cap(s.numbers)*perPiece + cap(s.bits)*8
}

// put adds a piece at the end.
func (s *shelf) put(number int64, h hash, sketch []uint64) {
	s.places[number] = append(s.places[number], len(s.numbers))
	s.numbers = append(s.numbers, number)
	s.hashes = append(s.hashes, h)
	s.bits = append(s.bits, sketch...)
}

// take removes an item's pieces; the last ones fill the gaps.
func (s *shelf) take(number int64) {
	places := s.places[number]
	delete(s.places, number)
	slices.Sort(places)
	for _, gap := range slices.Backward(places) {
		last := len(s.numbers) - 1
		if gap != last {
			moved := s.numbers[last]
			s.numbers[gap], s.hashes[gap] = moved, s.hashes[last]
			copy(s.bits[gap*s.width:(gap+1)*s.width], s.bits[last*s.width:])
			where := s.places[moved]
			where[slices.Index(where, last)] = gap
		}
		s.numbers, s.hashes, s.bits = s.numbers[:last], s.hashes[:last], s.bits[:last*s.width]
	}
}

// closest gives the places of at least most pieces (or all there are) that differ least from a
// sketch, of those whose item is wanted; nil wants all. Pieces that tie with the last one come too.
func (s *shelf) closest(sketch []uint64, most int, wanted map[int64]bool) []int {
	distances := make([]uint16, len(s.numbers))
	histogram := make([]int, 64*s.width+2)
	unwanted := uint16(64*s.width + 1)
	for i := range s.numbers {
		if wanted != nil && !wanted[s.numbers[i]] {
			distances[i] = unwanted
			continue
		}
		row := s.bits[i*s.width : (i+1)*s.width]
		differ := 0
		for j, word := range row {
			differ += bits.OnesCount64(word ^ sketch[j])
		}
		distances[i] = uint16(differ)
		histogram[differ]++
	}
	farthest, found := 0, 0
	for distance, pieces := range histogram {
		farthest, found = distance, found+pieces
		if found >= most {
			break
		}
	}
	places := make([]int, 0, found)
	for i, distance := range distances {
		if int(distance) <= farthest && distance != unwanted {
			places = append(places, i)
		}
	}
	return places
}
