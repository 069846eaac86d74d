package projections

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// unbound reads a chunk of a sheaf.
type unbound struct {
	bytes  []byte
	term   []byte
	left   int // places of the term
	at     posting
	scopes *interned
}

// posting is a term's place in an item.
type posting struct {
	scope  name
	number int64
	count  int64
	words  int64
}

// before tells whether the place comes before another one in the index of terms.
func (u *unbound) before(other *unbound) bool {
	if c := bytes.Compare(u.term, other.term); c != 0 {
		return c < 0
	}
	return u.at.before(other.at)
}

func (p posting) before(other posting) bool {
	if p.scope.text != other.scope.text {
		return strings.Compare(p.scope.text, other.scope.text) < 0
	}
	return p.number < other.number
}

var errSheaf = errors.New("a sheaf of terms cannot be read")

// next goes on to the next place; false at the end of the chunk.
func (u *unbound) next() (bool, error) {
	for u.left == 0 {
		if len(u.bytes) == 0 {
			return false, nil
		}
		var err error
		if u.term, err = u.text(); err != nil {
			return false, err
		}
		if u.left, err = u.length(); err != nil {
			return false, err
		}
		u.at.scope = name{}
	}
	u.left--
	scope, err := u.text()
	if err != nil {
		return false, err
	}
	if len(scope) > 0 {
		u.at.scope = u.scopes.of(scope)
	}
	for _, into := range [...]*int64{&u.at.number, &u.at.count, &u.at.words} {
		if *into, err = u.number(); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (u *unbound) number() (int64, error) {
	value, size := binary.Uvarint(u.bytes)
	if size <= 0 || value > math.MaxInt64 {
		return 0, errSheaf
	}
	u.bytes = u.bytes[size:]
	return int64(value), nil
}

func (u *unbound) length() (int, error) {
	length, err := u.number()
	if length > math.MaxInt {
		err = errSheaf
	}
	return int(length), err
}

func (u *unbound) text() ([]byte, error) {
	length, err := u.length()
	if err != nil || length > len(u.bytes) {
		return nil, errSheaf
	}
	text := u.bytes[:length:length]
	u.bytes = u.bytes[length:]
	return text, nil
}

// name is a text that comes again and again, and the same as a value of a row.
type name struct {
	text  string
	value any
}

// mostInterned is how many names are kept at once: there may be more of them than fit into memory.
const mostInterned = 1 << 14

// interned keeps names, so that each is made once and is fast to compare with itself.
type interned struct{ known map[string]name }

func (i *interned) of(text []byte) name {
	if known, found := i.known[string(text)]; found {
		return known
	}
	if i.known == nil || len(i.known) >= mostInterned {
		i.known = map[string]name{}
	}
	made := name{text: string(text)}
	made.value = made.text
	i.known[made.text] = made
	return made
}
