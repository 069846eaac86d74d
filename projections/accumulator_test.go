package projections

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/words"
	"github.com/annals-kb/annals/text"
)

func TestPostingsAreReadAsTheyWereListed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	type posting struct {
		Number       int64
		Words, Count int
		Tier         domain.Tier
	}
	var want []posting
	tally := words.NewAccumulator([]text.QueryTerm{{Term: "a"}})
	for number, tier := range []domain.Tier{0, 1, 2, 3} {
		var parts []string
		for range number {
			p := posting{int64(len(want)+1) << random.IntN(40), 1 + random.IntN(1<<20), 1 + random.IntN(1<<words.CountBits-1), tier}
			parts = append(parts, fmt.Sprintf("%d:%d", p.Number, int64(p.Words)<<words.CountBits|int64(p.Count)))
			want = append(want, p)
		}
		if err := tally.AddPostings(0, tier, []byte(strings.Join(parts, ";"))); err != nil {
			t.Fatal(err)
		}
	}
	var got []posting
	for _, o := range tally.Found[0] {
		item := tally.Items[o.Item]
		got = append(got, posting{item.Number, item.Words, o.Count, item.Tier})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoListOfPostingsIsRefused(t *testing.T) {
	t.Parallel()
	for _, listed := range []string{"7", "7:", ":7", "7:8;9", "7;8", "7:8;;9:1", "7:-8", "a:1", "7:8:9", " 7:8"} {
		if err := words.NewAccumulator([]text.QueryTerm{{Term: "a"}}).AddPostings(0, 0, []byte(listed)); err == nil {
			t.Errorf("%q was taken for a list", listed)
		}
	}
}
