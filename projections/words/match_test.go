package words

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
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
	matches := NewMatches([]text.QueryTerm{{Term: "a"}})
	for number, tier := range []domain.Tier{0, 1, 2, 3} {
		var parts []string
		for range number {
			p := posting{int64(len(want)+1) << random.IntN(40), 1 + random.IntN(1<<20), 1 + random.IntN(1<<countBits-1), tier}
			parts = append(parts, fmt.Sprintf("%d:%d", p.Number, int64(p.Words)<<countBits|int64(p.Count)))
			want = append(want, p)
		}
		if err := matches.addPostings(0, tier, []byte(strings.Join(parts, ";"))); err != nil {
			t.Fatal(err)
		}
	}
	var got []posting
	for _, o := range matches.found[0] {
		item := matches.items[o.item]
		got = append(got, posting{item.number, item.words, o.count, item.tier})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoListOfPostingsIsRefused(t *testing.T) {
	t.Parallel()
	for _, listed := range []string{"7", "7:", ":7", "7:8;9", "7;8", "7:8;;9:1", "7:-8", "a:1", "7:8:9", " 7:8"} {
		if err := NewMatches([]text.QueryTerm{{Term: "a"}}).addPostings(0, 0, []byte(listed)); err == nil {
			t.Errorf("%q was taken for a list", listed)
		}
	}
}
