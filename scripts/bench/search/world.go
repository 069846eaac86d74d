package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// world is what there is to find, and the questions. The same sizes give the same world on every machine.
type world struct {
	items     []item
	vectors   [][]float32 // of the items
	questions []question
}

// item is a piece of knowledge.
type item struct {
	tenant  string
	topic   int
	scopes  []domain.Scope
	content string
}

// question is asked in words and as a vector.
type question struct {
	words  string
	vector []float32
}

// The tenants: one with everything, and one that publishes nothing, whose audiences are therefore small.
const (
	large = domain.DefaultTenant
	quiet = "quiet"
)

// group is an audience and how many items it alone sees.
type group struct {
	scope domain.Scope
	items int
	broad bool // about every topic, more or less; else about a few
}

var groups = []group{
	{"user:ada", 43, false},
	{"project:apollo", 207, false},
	{"team:core", 207, false},
	{domain.Public, 5027, true},
	{"org:acme", 20_211, true},
}

// quietItems are the groups that the quiet tenant has, too.
const quietGroups = 3

func newWorld(items, questions int) *world {
	random := rand.New(rand.NewPCG(1, 2))
	space := newSpace(random)
	w := &world{}
	for range items {
		w.add(random, space, large)
	}
	for _, g := range groups[:quietGroups] {
		for range g.items {
			w.add(random, space, quiet)
			w.items[len(w.items)-1].scopes = []domain.Scope{g.scope}
		}
	}
	w.share(random, w.items[:items])
	for i := range questions {
		topic := space.topic(random)
		if i%2 == 0 { // about something that those who ask work on
			topic = w.items[w.anyOf(random, groups[i/2%quietGroups].scope)].topic
		}
		w.questions = append(w.questions, question{words: prose(random, topic, 6), vector: space.question(random, topic)})
	}
	return w
}

func (w *world) add(random *rand.Rand, space *space, tenant string) {
	topic := space.topic(random)
	w.items = append(w.items, item{
		tenant: tenant, topic: topic,
		content: fmt.Sprintf("#%d %s", len(w.items), prose(random, topic, 16)),
	})
	w.vectors = append(w.vectors, space.vector(random, topic))
}

func (w *world) anyOf(random *rand.Rand, scope domain.Scope) int {
	for {
		if i := random.IntN(len(w.items)); w.items[i].scopes[0] == scope {
			return i
		}
	}
}

// share gives each group its items, more of those topics that it cares for, and the rest to strangers.
func (w *world) share(random *rand.Rand, items []item) {
	for _, g := range groups {
		interest := make([]float64, topics)
		for topic := range interest {
			interest[topic] = random.ExpFloat64()
			if !g.broad && random.IntN(30) > 0 {
				interest[topic] /= 50
			}
		}
		for _, i := range sample(random, items, interest, g.items) {
			items[i].scopes = []domain.Scope{g.scope}
		}
	}
	for i := range items {
		if items[i].scopes == nil {
			items[i].scopes = strangers(random)
		}
	}
}

// sample draws items that nobody has yet, without replacement and weighted by interest (Efraimidis and Spirakis, 2006).
func sample(random *rand.Rand, items []item, interest []float64, wanted int) []int {
	type drawn struct {
		item int
		key  float64
	}
	var list []drawn
	for i, it := range items {
		if it.scopes == nil {
			list = append(list, drawn{i, math.Log(random.Float64()) / interest[it.topic]})
		}
	}
	slices.SortFunc(list, func(a, b drawn) int { return cmp.Compare(b.key, a.key) })
	places := make([]int, wanted)
	for i := range places {
		places[i] = list[i].item
	}
	return places
}

// strangers are audiences that nobody of those who ask belongs to; some items have two.
func strangers(random *rand.Rand) []domain.Scope {
	scopes := []domain.Scope{domain.Scope(fmt.Sprintf("org:other-%d", random.IntN(5)))}
	switch random.IntN(4) {
	case 0:
		scopes[0] = domain.Scope(fmt.Sprintf("user:other-%d", random.IntN(500)))
	case 1:
		scopes[0] = domain.Scope(fmt.Sprintf("team:other-%d", random.IntN(50)))
	case 2:
		scopes = append(scopes, domain.Scope(fmt.Sprintf("project:other-%d", random.IntN(100))))
	}
	return scopes
}

// prose is as many made-up words: some of a topic's own, most of everybody's, the frequent ones often.
func prose(random *rand.Rand, topic, words int) string {
	said := make([]string, words)
	for i := range said {
		rank := int(math.Exp(random.Float64() * math.Log(20_000)))
		said[i] = word(rank)
		if random.IntN(4) == 0 {
			said[i] = word(20_000 + 40*topic + random.IntN(40))
		}
	}
	return strings.Join(said, " ")
}

// word spells a number in syllables.
func word(n int) string {
	const consonants, vowels = "bdfgklmnprtvz", "aeou"
	var b strings.Builder
	for range 4 {
		b.WriteByte(consonants[n%len(consonants)])
		n /= len(consonants)
		b.WriteByte(vowels[n%len(vowels)])
		n /= len(vowels)
	}
	return b.String()
}
