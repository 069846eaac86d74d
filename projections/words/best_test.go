package words

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
)

// stock are items by number, each with its scopes, status and terms.
type stock map[int64]*stocked

type stocked struct {
	scopes []domain.Scope
	status domain.Status
	terms  []string
	words  int
}

func (s *stocked) entry() *Entry {
	k := &domain.Knowledge{ID: "x", Scopes: s.scopes}
	k.Status = s.status
	return &Entry{ItemTerms{s.words, PackTerms(s.terms)}, SetsOf(k)}
}

// blocks are the blocks that have the items as they were, with the changes since.
func (was stock) blocks(t *testing.T, now stock) map[int64]*block {
	t.Helper()
	var edits []edit
	blocks := map[int64]*block{}
	at := func(number int64) *block {
		if blocks[number>>blockBits] == nil {
			blocks[number>>blockBits] = &block{map[uint64][]byte{}, map[uint64]*set{}, nil}
		}
		return blocks[number>>blockBits]
	}
	for number, item := range was {
		edits = editsOf(edits, number, nil, item.entry())
	}
	sortEdits(edits)
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].block == edits[0].block && edits[n].key == edits[0].key {
			n++
		}
		key, b := edits[0].key, at(edits[0].block<<blockBits)
		var err error
		if key>>hashBits > 0 {
			var data []byte
			data, err = editedSet(nil, edits[:n])
			if s, broken := readSet(data); broken == nil {
				b.sets[key] = &s
			}
		} else {
			b.postings[key], err = editedPostings(nil, edits[:n])
		}
		if err != nil {
			t.Fatal(err)
		}
		edits = edits[n:]
	}
	for number, item := range now {
		if item == was[number] {
			continue
		}
		c := change{number: number}
		if was[number] != nil {
			c.was = was[number].entry()
		}
		if item != nil {
			c.now = item.entry()
		}
		at(number).changes = append(at(number).changes, c)
	}
	for _, b := range blocks {
		b.update(func(uint64) bool { return true })
	}
	return blocks
}

// sums scores every item that the audience may see and that is active, and tells its tier.
func (was stock) sums(
	terms []text.QueryTerm, audience domain.Audience,
) (sums map[int64]float64, tiers map[int64]domain.Tier) {
	items, listed, words := 0, 0, 0
	sums, tiers = map[int64]float64{}, map[int64]domain.Tier{}
	containing := make([]int, len(terms))
	count := func(item *stocked, term text.QueryTerm) (n int) {
		for _, of := range item.terms {
			if of == term.Term {
				n++
			}
		}
		return n
	}
	for number, item := range was {
		if item == nil {
			continue
		}
		times := 0
		tiers[number] = domain.TierPublic + 1
		for _, scope := range item.scopes {
			if audience.Everything || slices.Contains(audience.Scopes, scope) {
				times, tiers[number] = times+1, min(tiers[number], scope.Tier())
			}
		}
		if audience.Everything {
			times = 1
		}
		if times == 0 {
			delete(tiers, number)
			continue
		}
		items, listed, words = items+1, listed+times, words+times*item.words
		for i, term := range terms {
			containing[i] += min(1, count(item, term))
		}
	}
	average := max(1, float64(words)/float64(max(1, listed)))
	order := []int{} // the rarest first
	for i := range terms {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if terms[a].Beside != terms[b].Beside {
			return a - b
		}
		return containing[a] - containing[b]
	})
	for number := range tiers {
		item := was[number]
		if item.status != domain.Active {
			continue
		}
		for _, i := range order {
			if n := count(item, terms[i]); n > 0 && !(terms[i].Beside && sums[number] == 0) {
				sums[number] += text.IDF(items, containing[i]) * text.Saturation(n, item.words, average)
			}
		}
	}
	return sums, tiers
}

func TestTheBestAreThoseOfAllItems(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	some := func(of ...domain.Scope) domain.Scope { return of[random.IntN(len(of))] }
	item := func() *stocked {
		s := &stocked{status: domain.Active, words: 1 + random.IntN(1<<(1+random.IntN(17)))}
		s.scopes = slices.Compact(slices.Sorted(slices.Values([]domain.Scope{
			some("user:ada", "team:a", "team:b", "org:o"), some("org:o", "org:o", "public", "team:b"),
		})))
		if random.IntN(6) == 0 {
			s.status = domain.IsSuperseded
		}
		for range random.IntN(9) {
			term := fmt.Sprint("t", random.IntN(1<<random.IntN(5)))
			for range 1 + random.IntN(2)*random.IntN(1<<random.IntN(9)) {
				s.terms = append(s.terms, term)
			}
		}
		return s
	}
	terms := []text.QueryTerm{
		{Term: "t9"}, {Term: "t0"}, {Term: "t1"}, {Term: "t3"}, {Term: "none"}, {Term: "t2", Beside: true},
	}
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		was, now := stock{}, stock{}
		for range 1 + random.IntN(1200) {
			number := int64(random.IntN(3<<blockBits) >> (4 * random.IntN(3)))
			was[number] = item()
			if now[number] = was[number]; random.IntN(20) == 0 {
				now[number] = []*stocked{nil, item()}[random.IntN(2)]
			}
		}
		for range random.IntN(5) {
			now[int64(random.IntN(3<<blockBits))] = item()
		}
		asked := slices.Clone(terms[random.IntN(3):])
		for _, audience := range []domain.Audience{
			{Everything: true},
			{Scopes: []domain.Scope{"org:o", "team:a"}},
			{Scopes: []domain.Scope{"user:ada"}},
			{Scopes: []domain.Scope{"public", "team:a", "team:b", "user:ada"}},
		} {
			m := NewMatches(asked)
			size, err := m.match(was.blocks(t, now), scopesOf(audience), Groups{{SetOf(rows.OfStatus, domain.Active)}})
			if err != nil {
				t.Fatal(err)
			}
			m.Score(size)
			sums, tiers := now.sums(asked, audience)
			for _, depth := range []int{1, 7, 2000} {
				var want []scored
				for tier := domain.TierUser; tier <= domain.TierPublic; tier++ {
					var of []scored
					for number, sum := range sums {
						if tiers[number] == tier && sum > 0 {
							of = append(of, scored{number, sum})
						}
					}
					slices.SortFunc(of, scored.compare)
					want = append(want, of[:min(len(of), depth)]...)
				}
				slices.SortFunc(want, scored.compare)
				got := m.Best(depth)
				if !slices.EqualFunc(got, want, func(number int64, it scored) bool { return number == it.number }) {
					t.Fatalf("round %d, %v: the best %d of each tier are %v, want %v", round, audience, depth, got, want)
				}
			}
			for number := range now {
				if got, want := m.ScoreOf(number), text.WordScore(sums[number], m.attainable); got != want {
					t.Fatalf("round %d, %v: item %d has %v, want %v", round, audience, number, got, want)
				}
			}
		}
	}
}

func TestItemsThatCannotBeAmongTheBestAreNotLookedUp(t *testing.T) {
	t.Parallel()
	random, was := rand.New(rand.NewPCG(7, 8)), stock{}
	for number := range int64(20_000) {
		s := &stocked{scopes: []domain.Scope{"org:o"}, status: domain.Active, words: 20 + random.IntN(40)}
		for term, one := range map[string]int{"common": 2, "often": 3, "seldom": 40, "rare": 400} {
			if random.IntN(one) == 0 {
				s.terms = append(s.terms, term)
			}
		}
		was[number] = s
	}
	m := NewMatches([]text.QueryTerm{{Term: "common"}, {Term: "often"}, {Term: "seldom"}, {Term: "rare"}})
	size, err := m.match(was.blocks(t, was), scopesOf(domain.Audience{Scopes: []domain.Scope{"org:o"}}),
		Groups{{SetOf(rows.OfStatus, domain.Active)}})
	if err != nil {
		t.Fatal(err)
	}
	m.Score(size)
	if best := m.Best(10); len(best) != 10 {
		t.Fatalf("%d items, want 10", len(best))
	}
	if all := m.containing[0] + m.containing[1]; m.tried > all/10 {
		t.Errorf("terms of items were looked up %d times, the common ones occur %d times", m.tried, all)
	}
}
