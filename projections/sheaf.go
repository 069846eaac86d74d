package projections

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// sheaf is the terms of a part of a rebuild, in the order of the index of terms, after the items themselves, scope
// by scope. SQLite inserts in that order a dozen times faster than in the order of items, so that a load keeps
// sheaves, and the index is written when they are merged, after the table of scopes. Terms have numbers in it,
// by which they are counted and put in order: to compare words takes longer than anything else that is done with them.
type sheaf struct {
	numbers map[string]uint32 // of the terms
	terms   []sheafTerm       // by their numbers
	items   []sheafItem
	found   []mention // the terms of one item after those of the other
	placed  []sheafPlace
}

// itself stands for an item in its scopes, before all terms: no term is empty.
const itself = ""

// sheafTerm is a term, how many places it has, and where it was found last.
type sheafTerm struct {
	name   string
	places int
	last   int
}

// sheafItem is an item, and where those of its terms begin and end.
type sheafItem struct {
	number     int64
	words      int
	begin, end int
}

// mention is how often an item has a term.
type mention struct{ term, count uint32 }

// sheafPlace is an item in one of its scopes.
type sheafPlace struct {
	scope string
	item  uint32
}

// add adds the terms of an item that answers may contain, as they were cut.
func (s *sheaf) add(k *domain.Knowledge, terms []string, words int) {
	if s.numbers == nil {
		s.numbers = map[string]uint32{}
	}
	item := sheafItem{number: k.Number, words: words, begin: len(s.found)}
	s.mention(itself, item.begin, len(k.Scopes))
	for _, name := range terms {
		s.mention(name, item.begin, len(k.Scopes))
	}
	item.end = len(s.found)
	for _, scope := range k.Scopes {
		s.placed = append(s.placed, sheafPlace{string(scope), uint32(len(s.items))})
	}
	s.items = append(s.items, item)
}

// mention counts a term of the item whose terms begin there, in so many scopes.
func (s *sheaf) mention(name string, begin, scopes int) {
	number, known := s.numbers[name]
	if !known {
		number = uint32(len(s.terms))
		s.numbers[name] = number
		s.terms = append(s.terms, sheafTerm{name: name, last: -1})
	}
	term := &s.terms[number]
	if term.last >= begin {
		s.found[term.last].count++
		return
	}
	term.last = len(s.found)
	term.places += scopes
	s.found = append(s.found, mention{number, 1})
}

// sheafChunk is how many bytes of a sheaf are read at once.
const sheafChunk = 16 << 10

// chunk is a piece of a sheaf, by its first term. It consists of, for each term,
//
//	LENGTH TERM PLACES, and for each place
//	LENGTH SCOPE NUMBER COUNT WORDS
//
// where every number is an unsigned varint, and the length of a scope is 0 if it is that of the place
// before.
type chunk struct {
	first string
	bytes []byte
}

// chunks encodes the sheaf in order.
func (s *sheaf) chunks() []chunk {
	slices.SortFunc(s.placed, func(a, b sheafPlace) int {
		return cmp.Or(strings.Compare(a.scope, b.scope), cmp.Compare(s.items[a.item].number, s.items[b.item].number))
	})
	sorted := make([]uint32, len(s.terms))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(a, b uint32) int { return strings.Compare(s.terms[a].name, s.terms[b].name) })
	places := s.distribute(sorted)
	var list []chunk
	for _, number := range sorted {
		term := s.terms[number]
		if len(list) == 0 || len(list[len(list)-1].bytes) >= sheafChunk {
			list = append(list, chunk{first: term.name, bytes: make([]byte, 0, sheafChunk+sheafChunk/4)})
		}
		last := &list[len(list)-1]
		last.bytes = s.appendPlaces(last.bytes, term.name, places[:term.places])
		places = places[term.places:]
	}
	return list
}

// placeCount is how often a term occurs at a place.
type placeCount struct{ place, count uint32 }

// distribute gives the places of one term after those of the other: places are gone through in their order, so
// that those of each term are in order, too.
func (s *sheaf) distribute(sorted []uint32) []placeCount {
	next, all := make([]int, len(s.terms)), 0
	for _, number := range sorted {
		next[number] = all
		all += s.terms[number].places
	}
	places := make([]placeCount, all)
	for at, place := range s.placed {
		item := &s.items[place.item]
		for _, found := range s.found[item.begin:item.end] {
			places[next[found.term]] = placeCount{uint32(at), found.count}
			next[found.term]++
		}
	}
	return places
}

func (s *sheaf) appendPlaces(b []byte, term string, places []placeCount) []byte {
	b = binary.AppendUvarint(b, uint64(len(term)))
	b = append(b, term...)
	b = binary.AppendUvarint(b, uint64(len(places)))
	scope := ""
	for _, p := range places {
		place := &s.placed[p.place]
		item := &s.items[place.item]
		if place.scope == scope {
			b = append(b, 0)
		} else {
			scope = place.scope
			b = binary.AppendUvarint(b, uint64(len(scope)))
			b = append(b, scope...)
		}
		b = binary.AppendUvarint(b, uint64(item.number))
		b = binary.AppendUvarint(b, uint64(p.count))
		b = binary.AppendUvarint(b, uint64(item.words))
	}
	return b
}
