package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// item is a piece of knowledge as the API takes it.
type item struct {
	ID      string   `json:"id,omitempty"`
	Type    string   `json:"type"`
	Task    string   `json:"task,omitempty"`
	Content string   `json:"content"`
	Scopes  []string `json:"scopes"`
	Owner   string   `json:"owner,omitempty"`
}

func (it item) body() []byte {
	text, err := json.Marshal(it)
	if err != nil {
		panic(err) // strings always encode
	}
	return text
}

// types are those of the API.
var types = []string{"strategy", "usecase", "definition", "plan"}

// typeAt gives one item in a hundred the first type, forty the second, and the others the rest.
func typeAt(i int) string {
	switch n := i % 100; {
	case n == 0:
		return types[0]
	case n <= 40:
		return types[1]
	default:
		return types[2+i%2]
	}
}

// author writes items of 20 to 60 words in English or Chinese, the same ones for the same seed. A third of the words
// are made up, drawn from 50,000 by Zipf's law.
type author struct{ random *rand.Rand }

func newAuthor(seed uint64) author { return author{rand.New(rand.NewPCG(seed, 1))} }

// items writes so many items.
func (a author) items(count int) []item {
	items := make([]item, count)
	for i := range items {
		items[i] = a.write()
	}
	return items
}

func (a author) write() item {
	it := item{
		Type: typeAt(a.random.IntN(100)), Scopes: []string{"user:default", "team:t" + strconv.Itoa(a.random.IntN(20))},
	}
	l, gap := english, " "
	if a.random.IntN(3) == 0 {
		l, gap = chinese, ""
	}
	it.Task = a.pick(l.situations) + gap + a.pick(l.things)
	for range 2 + a.random.IntN(2) {
		it.Content += a.sentence(l)
	}
	return it
}

func (a author) sentence(l language) string {
	return strings.NewReplacer(
		"SITUATION", a.pick(l.situations), "THING", a.pick(l.things), "DOING", a.pick(l.doings), "REASON", a.pick(l.reasons),
		"NAMES", a.prose(6), "NAME", a.pick(names)+strconv.Itoa(a.random.IntN(500)), "NUMBER",
		strconv.Itoa(2+a.random.IntN(900)),
	).Replace(a.pick(l.forms))
}

func (a author) pick(list []string) string { return list[a.random.IntN(len(list))] }

// prose returns so many made-up words, drawn by Zipf's law.
func (a author) prose(words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = word(int(math.Exp(a.random.Float64() * math.Log(50_000))))
	}
	return strings.Join(list, " ")
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
