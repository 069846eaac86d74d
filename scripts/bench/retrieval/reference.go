package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/annals-kb/annals/text"
)

// reference is BM25 as textbooks have it, over everything in memory: k1 1.2, b 0.75, any word counts.
type reference struct {
	name     string
	said     func(record) string
	terms    func(string) []string
	question func(string) []string
}

var references = []reference{
	{"BM25 of content, plain words", content, plainWords, plainWords},
	{"BM25 of content, our terms", content, text.Terms, ourQuery},
	{"BM25 of task and content, our terms", taskAndContent, text.Terms, ourQuery},
}

func content(r record) string        { return r.Content }
func taskAndContent(r record) string { return r.Task + "\n" + r.Content }

func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func ourQuery(s string) []string {
	var terms []string
	for _, term := range text.Query(s) {
		terms = append(terms, term.Term)
	}
	return terms
}

// document is a record as BM25 sees it.
type document struct {
	id     string
	counts map[string]int
	length int
}

// judge answers every question from its scope and gives the ids of the best ten.
func (r reference) judge(c corpus) [][]string {
	documents := map[string][]document{}
	for _, rec := range c.records {
		d := document{id: rec.ID, counts: map[string]int{}}
		for _, term := range r.terms(r.said(rec)) {
			d.counts[term]++
			d.length++
		}
		for _, scope := range rec.Scopes {
			documents[string(scope)] = append(documents[string(scope)], d)
		}
	}
	found := make([][]string, len(c.queries))
	for i, q := range c.queries {
		found[i] = bm25(documents[string(q.Scope)], r.question(q.Text))
	}
	return found
}

func bm25(documents []document, terms []string) []string {
	const k1, b = 1.2, 0.75
	slices.Sort(terms)
	terms = slices.Compact(terms)
	length := 0
	containing := map[string]int{}
	for _, d := range documents {
		length += d.length
		for _, term := range terms {
			if d.counts[term] > 0 {
				containing[term]++
			}
		}
	}
	average, n := float64(length)/float64(len(documents)), float64(len(documents))
	scores := map[string]float64{}
	for _, d := range documents {
		for _, term := range terms {
			if count := float64(d.counts[term]); count > 0 {
				idf := math.Log(1 + (n-float64(containing[term])+0.5)/(float64(containing[term])+0.5))
				scores[d.id] += idf * count * (k1 + 1) / (count + k1*(1-b+b*float64(d.length)/average))
			}
		}
	}
	ids := make([]string, 0, len(scores))
	for id := range scores {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y string) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	return ids[:min(depth, len(ids))]
}
