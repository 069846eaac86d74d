package projections

import (
	"cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// Place is a row of the index of terms, without its tenant.
type Place struct {
	Term, Scope  string
	Number       int64
	Count, Words int
}

func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.Term, other.Term), cmp.Compare(p.Scope, other.Scope), cmp.Compare(p.Number, other.Number))
}

// ThroughASheaf binds the terms of items and reads them again.
func ThroughASheaf(items []*domain.Knowledge) ([]Place, error) {
	var s sheaf
	for _, k := range items {
		terms, words := cut(text.Tokenizers()[0], k)
		s.add(k, terms, words)
	}
	var all []Place
	for _, c := range s.chunks() {
		places, err := Unbind(c.bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, places...)
	}
	return all, nil
}

// Unbind reads a chunk of a sheaf.
func Unbind(bytes []byte) ([]Place, error) {
	u := unbound{bytes: bytes, scopes: &interned{}}
	var all []Place
	for {
		more, err := u.next()
		if err != nil || !more {
			return all, err
		}
		all = append(all, Place{string(u.term), u.at.scope.text, u.at.number, int(u.at.count), int(u.at.words)})
	}
}
