package projections_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

func TestASheafIsReadInTheOrderOfTheIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var items []*domain.Knowledge
		var want []projections.Place
		for i := range rapid.IntRange(0, 20).Draw(rt, "items") {
			k := &domain.Knowledge{
				Number: rapid.Int64Range(1, 1<<40).Draw(rt, "number")<<5 | int64(i),
				Scopes: rapid.SliceOfNDistinct(rapid.SampledFrom(scopes), 1, 4, rapid.ID[domain.Scope]).Draw(rt, "scopes"),
				Text:   domain.Text{Content: rapid.StringN(0, 400, -1).Draw(rt, "content")},
			}
			items = append(items, k)
			counts, words := projections.TermsOf(k)
			for term, count := range counts {
				for _, scope := range k.Scopes {
					want = append(want, projections.Place{Term: term, Scope: string(scope), Number: k.Number, Count: int(count), Words: words})
				}
			}
		}
		slices.SortFunc(want, projections.Place.Compare)
		got, err := projections.ThroughASheaf(items)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			rt.Errorf("places (-got +want):\n%s", diff)
		}
	})
}

func FuzzASheafThatIsNoneIsRefused(f *testing.F) {
	f.Add([]byte{1, 'a', 1, 1, 'b', 1, 1, 1})
	f.Add([]byte{1, 'a', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(_ *testing.T, bytes []byte) {
		_, _ = projections.Unbind(bytes) // must end
	})
}
