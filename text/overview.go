package text

import (
	"slices"
	"strings"
)

// Overview is s if it has at most maxTokens. If it is longer, it is its headings and as much of the beginning of every
// paragraph as there is room for, in the order of s; code only if there is room for all the rest.
func Overview(s string, maxTokens int) string {
	if Tokens(s) <= maxTokens {
		return s
	}
	o := overview{room: maxTokens * oneToken}
	for _, block := range blocks(s) {
		o.add(block)
	}
	o.choose()
	if text := o.String(); text != "" {
		return text
	}
	return shorten(strings.TrimSpace(s), maxTokens)
}

// overview chooses among the sentences of paragraphs.
type overview struct {
	paragraphs []paragraph
	room       int // in hundredths of a token
}

type paragraph struct {
	sentences []string
	taken     int
	kind      paragraphKind
}

// paragraphKind is the order in which an overview asks paragraphs.
type paragraphKind int

const (
	heading paragraphKind = iota
	prose
	code
)

// add divides a block into a heading, if it has one, and the sentences under it.
func (o *overview) add(block string) {
	block = strings.TrimLeft(block, "\r\n")
	for isHeading(block) {
		end := lineEnd(block, 0)
		o.paragraphs = append(o.paragraphs, paragraph{sentences: []string{block[:end]}, kind: heading})
		block = strings.TrimLeft(block[end:], "\r\n")
	}
	switch {
	case strings.TrimSpace(block) == "":
	case isCode(block):
		o.paragraphs = append(o.paragraphs, paragraph{sentences: []string{block}, kind: code})
	default:
		o.paragraphs = append(o.paragraphs, paragraph{sentences: sentences(block), kind: prose})
	}
}

// choose takes the headings, then the first sentence of every paragraph, then the second and so on, then code.
func (o *overview) choose() {
	for kind := heading; kind <= code; kind++ {
		open := func(p paragraph) bool { return p.kind == kind && p.taken < len(p.sentences) }
		for slices.ContainsFunc(o.paragraphs, open) {
			for i := range o.paragraphs {
				if open(o.paragraphs[i]) {
					o.take(&o.paragraphs[i])
				}
			}
		}
	}
}

// take takes a paragraph's next sentence, or closes the paragraph if there is no room for it.
func (o *overview) take(p *paragraph) {
	cost := cost(p.sentences[p.taken])
	if p.taken == 0 {
		cost += 2 * costNewline // between paragraphs
	}
	if cost > o.room {
		p.sentences = p.sentences[:p.taken]
		return
	}
	o.room -= cost
	p.taken++
}

// String joins what was taken.
func (o *overview) String() string {
	var text []string
	for _, p := range o.paragraphs {
		if s := strings.TrimSpace(strings.Join(p.sentences[:p.taken], "")); s != "" {
			text = append(text, s)
		}
	}
	return strings.Join(text, "\n\n")
}
