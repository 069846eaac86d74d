package main

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// item is a piece of knowledge as somebody would write it: 20 to 60 words in English or in Chinese, for two scopes.
type item struct {
	Type    string   `json:"type"`
	Task    string   `json:"task"`
	Content string   `json:"content"`
	Scopes  []string `json:"scopes"`
}

// author writes items, always the same ones for the same seed.
type author struct{ random *rand.Rand }

func newAuthor(seed uint64) author { return author{rand.New(rand.NewPCG(seed, 1))} }

func (a author) write() item {
	it := item{
		Type:   string(domain.Types[a.random.IntN(len(domain.Types))]),
		Scopes: []string{"user:default", "team:t" + strconv.Itoa(a.random.IntN(20))},
	}
	if a.random.IntN(3) == 0 {
		it.Task = a.pick(chinese.situations) + a.pick(chinese.things)
		it.Content = a.text(chinese, 30+a.random.IntN(60), func(s string) int { return len(s) / 3 })
	} else {
		it.Task = a.pick(english.situations) + " " + a.pick(english.things)
		it.Content = a.text(english, 20+a.random.IntN(32), func(s string) int { return strings.Count(s, " ") + 1 })
	}
	return it
}

// text writes sentences until there are enough words.
func (a author) text(l language, enough int, size func(string) int) string {
	var b strings.Builder
	for words := 0; words < enough; {
		sentence := a.sentence(l)
		words += size(sentence)
		b.WriteString(sentence)
	}
	return strings.TrimSpace(b.String())
}

func (a author) sentence(l language) string {
	words := l.forms[a.random.IntN(len(l.forms))]
	return strings.NewReplacer(
		"SITUATION", a.pick(l.situations), "THING", a.pick(l.things), "DOING", a.pick(l.doings), "REASON", a.pick(l.reasons),
		"NAME", a.pick(names)+strconv.Itoa(a.random.IntN(500)), "NUMBER", strconv.Itoa(2+a.random.IntN(900)),
	).Replace(words)
}

func (a author) pick(list []string) string { return list[a.random.IntN(len(list))] }

// body is the item as a request has it.
func (it item) body() []byte {
	text, err := json.Marshal(it)
	if err != nil {
		panic(err) // strings always can
	}
	return text
}

// command is the item as the log has it.
func (it item) command(id string) (domain.Submission, error) {
	by := domain.OpenPrincipal()
	r := domain.Remembered{Type: domain.Type(it.Type), Text: domain.Text{Task: it.Task, Content: it.Content}}
	for _, scope := range it.Scopes {
		r.Scopes = append(r.Scopes, domain.Scope(scope))
	}
	command, err := domain.Remember{By: by, ID: id, Knowledge: r}.Complete()
	return domain.Submission{Command: command, By: by, Origin: domain.Origin{RequestID: id}}, err
}
