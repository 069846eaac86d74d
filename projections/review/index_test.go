package review

import (
	"slices"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text/compare"
	"github.com/annals-kb/annals/projections/search"
)

func TestAnIndexFindsTheNewestItemsOfAScope(t *testing.T) {
	t.Parallel()
	x := &index{}
	numbered := func(number int64, scope domain.Scope) search.Signed {
		return search.Signed{
			Item:      &domain.Knowledge{Number: number, Scopes: []domain.Scope{scope}},
			Signature: compare.Signature{Hashes: []uint64{7, 8, uint64(100 + number)}, Least: 2},
		}
	}
	for number := range int64(1000) {
		x.add("acme", number, map[string]search.Signed{"": numbered(number, "team:pay")})
	}
	got := x.candidates("acme", numbered(998, "team:pay"))
	if want := []int64{999, 997, 996, 995, 994}; !slices.Equal(got, want) || x.knows("acme") != 999 {
		t.Errorf("got %d, want %d; it knows the log up to %d", got, want, x.knows("acme"))
	}
	for i, run := range x.young {
		if !slices.IsSorted(run) || i > 0 && 2*len(run) > len(x.young[i-1]) {
			t.Errorf("run %d has %d entries", i, len(run))
		}
	}
	for _, other := range []string{"acme", "other"} {
		if got := x.candidates(other, numbered(1, domain.Scope("team:"+other))); len(got) > 0 || x.knows("other") > 0 {
			t.Errorf("in another scope of %s, it finds %d", other, got)
		}
	}
}

func TestAnIndexForgetsTheOldestEntries(t *testing.T) {
	t.Parallel()
	x := &index{young: [][]uint64{make([]uint64, mostEntries/2+1)}, old: [][]uint64{make([]uint64, 1)}}
	x.add("acme", 1, nil)
	if len(x.old) == 0 || len(x.old[0]) <= mostEntries/2 || len(x.young) > 0 {
		t.Errorf("%d old and %d young runs", len(x.old), len(x.young))
	}
}
