package projections

import (
	"cmp"
	"context"

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
		terms, words := tokenize(text.Tokenizers()[0], k)
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

// MergeSome writes so many rows from the sheaves of a version that is being built, as if a process had come no further.
func MergeSome(ctx context.Context, r *Rebuilder, tenant string, version, rows int) error {
	m, err := r.openSheaves(ctx, tablesOf(version), tenant)
	if err != nil {
		return err
	}
	batch, err := m.batch(ctx, rows)
	if err != nil {
		return err
	}
	return r.writePlaces(ctx, r.knowledge.versionOf(entry{Name: knowledgeName, Version: version}), batch)
}
