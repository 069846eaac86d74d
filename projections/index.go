package projections

import (
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// bag is an item as the index of words sees it.
type bag struct {
	Terms  []string
	Counts []float32 // weighted by the field that the term stands in
	Words  int       // the length that BM25 normalises by
}

// bagOf counts the terms of everything in an item that a search should find it by.
func bagOf(k *domain.Knowledge) bag {
	fields := []struct {
		text   string
		weight float32
	}{
		{k.Text.Content, 1},
		{k.Text.Task, 1},
		{strings.Join(tagValues(k.Text.Tags), "\n"), 1},
	}
	counts := map[string]float32{}
	words := 0
	for _, field := range fields {
		terms, length := text.TermCounts(field.text)
		words += length
		for term, count := range terms {
			counts[term] += field.weight * float32(count)
		}
	}
	b := bag{Terms: make([]string, 0, len(counts)), Words: words}
	for term := range counts {
		b.Terms = append(b.Terms, term)
	}
	slices.Sort(b.Terms)
	b.Counts = make([]float32, len(b.Terms))
	for i, term := range b.Terms {
		b.Counts[i] = counts[term]
	}
	return b
}

func tagValues(tags domain.Tags) []string {
	var values []string
	for _, list := range tags {
		values = append(values, list...)
	}
	slices.Sort(values)
	return values
}

// reindex tells whether the index of words must change for an item, and to what. The length of what
// an item says is known even while no answer may contain it, however its events were batched.
func (it *item) reindex() (bool, bag) {
	if it.was.Exists() && it.was.Revision == it.now.Revision {
		return false, bag{Words: it.words}
	}
	was, now := isAlive(&it.was), isAlive(it.now)
	same := it.was.Exists() && sameWords(&it.was, it.now)
	switch {
	case !now && same:
		return was, bag{Words: it.words}
	case was && now && same && slices.Equal(it.was.Scopes, it.now.Scopes):
		return false, bag{Words: it.words}
	}
	return was || now, bagOf(it.now)
}

func sameWords(a, b *domain.Knowledge) bool {
	return a.Text.Content == b.Text.Content && a.Text.Task == b.Text.Task &&
		slices.Equal(tagValues(a.Text.Tags), tagValues(b.Text.Tags))
}

// indexChange is what a batch changes in the index of words.
type indexChange struct {
	gone  []*domain.Knowledge
	terms [][]any // term, number, count, words
	made  [][]any // scope, number, words
}

func (c *indexChange) add(it *item, now bag) {
	if isAlive(&it.was) {
		c.gone = append(c.gone, &it.was)
	}
	if !isAlive(it.now) {
		return
	}
	for i, term := range now.Terms {
		c.terms = append(c.terms, []any{term, it.now.Number, now.Counts[i], now.Words})
	}
	for _, scope := range it.now.Scopes {
		c.made = append(c.made, []any{string(scope), it.now.Number, now.Words})
	}
}

func (c indexChange) write(script *script, s *stage) {
	for _, k := range c.gone {
		script.add(s.tx.NewDelete().TableExpr("?", s.tables.terms).
			Where("tenant = ?", s.tenant).Where("term IN (?)", bun.List(bagOf(k).Terms)).
			Where("scope IN (?)", bun.List(k.Scopes)).Where("number = ?", k.Number))
		script.add(s.tx.NewDelete().TableExpr("?", s.tables.scopes).
			Where("tenant = ?", s.tenant).Where("scope IN (?)", bun.List(k.Scopes)).Where("number = ?", k.Number))
	}
	if len(c.made) == 0 {
		return
	}
	script.add(s.tx.NewRaw(`
		INSERT INTO ? (tenant, scope, number, words)
		WITH made (scope, number, words) AS (VALUES ?)
		SELECT ?, scope, number, words FROM made`,
		s.tables.scopes, tuples(c.made), s.tenant))
	if len(c.terms) == 0 {
		return
	}
	script.add(s.tx.NewRaw(`
		INSERT INTO ? (tenant, term, scope, number, count, words)
		WITH found (term, number, count, words) AS (VALUES ?),
		     made (scope, number, words) AS (VALUES ?)
		SELECT ?, found.term, made.scope, made.number, found.count, found.words
		FROM found JOIN made ON made.number = found.number`,
		s.tables.terms, tuples(c.terms), tuples(c.made), s.tenant))
}
