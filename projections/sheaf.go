package projections

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// sheaf is the terms of a part of a rebuild, in the order of the index of terms. SQLite inserts in that
// order a dozen times faster than in the order of items, so that a load keeps sheaves, and the index is
// written when they are merged.
type sheaf struct {
	terms map[string][]sheafTerm
	count int
}

// sheafTerm is a term's place in an item.
type sheafTerm struct {
	scope  string
	number int64
	count  int
	words  int
}

func (t sheafTerm) compare(other sheafTerm) int {
	if c := strings.Compare(t.scope, other.scope); c != 0 {
		return c
	}
	switch {
	case t.number < other.number:
		return -1
	case t.number > other.number:
		return 1
	}
	return 0
}

// add adds the terms of an item that answers may contain.
func (s *sheaf) add(k *domain.Knowledge, b bag) {
	if s.terms == nil {
		s.terms = map[string][]sheafTerm{}
	}
	for i, term := range b.Terms {
		places := s.terms[term]
		for _, scope := range k.Scopes {
			places = append(places, sheafTerm{scope: string(scope), number: k.Number, count: b.Counts[i], words: b.Words})
		}
		s.terms[term] = places
	}
	s.count += len(b.Terms) * len(k.Scopes)
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
	names := make([]string, 0, len(s.terms))
	for name := range s.terms {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []chunk
	for _, name := range names {
		if len(list) == 0 || len(list[len(list)-1].bytes) >= sheafChunk {
			list = append(list, chunk{first: name, bytes: make([]byte, 0, sheafChunk+sheafChunk/4)})
		}
		last := &list[len(list)-1]
		last.bytes = appendPlaces(last.bytes, name, s.terms[name])
	}
	return list
}

func appendPlaces(b []byte, term string, places []sheafTerm) []byte {
	slices.SortFunc(places, sheafTerm.compare)
	b = binary.AppendUvarint(b, uint64(len(term)))
	b = append(b, term...)
	b = binary.AppendUvarint(b, uint64(len(places)))
	scope := ""
	for _, p := range places {
		if p.scope == scope {
			b = append(b, 0)
		} else {
			scope = p.scope
			b = binary.AppendUvarint(b, uint64(len(scope)))
			b = append(b, scope...)
		}
		b = binary.AppendUvarint(b, uint64(p.number))
		b = binary.AppendUvarint(b, uint64(p.count))
		b = binary.AppendUvarint(b, uint64(p.words))
	}
	return b
}

// unbound reads a chunk.
type unbound struct {
	bytes []byte
	term  string
	left  int // places of the term
	at    sheafTerm
}

var errSheaf = errors.New("a sheaf of terms cannot be read")

// next goes on to the next place; false at the end of the chunk.
func (u *unbound) next() (bool, error) {
	for u.left == 0 {
		if len(u.bytes) == 0 {
			return false, nil
		}
		name, err := u.text()
		if err != nil {
			return false, err
		}
		u.term, u.at.scope = name, ""
		if u.left, err = u.number(); err != nil {
			return false, err
		}
	}
	u.left--
	scope, err := u.text()
	if err != nil {
		return false, err
	}
	if scope != "" {
		u.at.scope = scope
	}
	var numbers [3]int
	for i := range numbers {
		if numbers[i], err = u.number(); err != nil {
			return false, err
		}
	}
	u.at.number, u.at.count, u.at.words = int64(numbers[0]), numbers[1], numbers[2]
	return true, nil
}

func (u *unbound) number() (int, error) {
	value, size := binary.Uvarint(u.bytes)
	if size <= 0 || value > math.MaxInt64 {
		return 0, errSheaf
	}
	u.bytes = u.bytes[size:]
	return int(value), nil
}

func (u *unbound) text() (string, error) {
	length, err := u.number()
	if err != nil || length > len(u.bytes) {
		return "", errSheaf
	}
	text := string(u.bytes[:length])
	u.bytes = u.bytes[length:]
	return text, nil
}
