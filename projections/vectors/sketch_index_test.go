package vectors

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/words"
)

func TestTheClosestSketchesAreFoundHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	const most = 20
	random := rand.New(rand.NewPCG(1, 2))
	for _, pieces := range []int{1, most, 1500, 5000, 70_000} {
		sketches := make([][]uint64, pieces)
		for i := range sketches {
			sketches[i] = make([]uint64, 16)
			for word := range sketches[i] {
				sketches[i][word] = random.Uint64()
			}
		}
		asked := slices.Clone(sketches[pieces/2])
		for i := range most { // each a little farther than the one before, and all over the index
			near := sketches[i*pieces/most]
			copy(near, asked)
			for word := range min(i, len(near)) {
				near[word] ^= 1
			}
		}
		want := make([]int, pieces)
		for i := range want {
			want[i] = i
		}
		slices.SortFunc(want, func(a, b int) int {
			return cmp.Compare(embedding.Hamming(asked, sketches[a]), embedding.Hamming(asked, sketches[b]))
		})
		want = want[:min(most, pieces)]
		index := NewSketchIndex()
		for i, sketch := range sketches {
			index.Add(int64(i), Hash{}, sketch)
		}
		got := index.Closest(asked, most, index.scopes[words.SetOfScope("")])
		for _, place := range want {
			if !slices.Contains(got, uint32(place)) {
				t.Errorf("of %d pieces, the one at %d is missing, which differs in %d bits",
					pieces, place, embedding.Hamming(asked, sketches[place]))
			}
		}
		if len(got) > 2*most {
			t.Errorf("of %d pieces, got %d, want about %d", pieces, len(got), most)
		}
	}
}
