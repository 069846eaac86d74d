package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The lengths of summaries, in tokens: limits of an abstract and an overview.
const (
	AbstractTokens = 100
	OverviewTokens = 1500
)

// Abstract is the beginning of s on one line of at most maxTokens: its title, first sentences and list items, without
// code and front matter. It ends after a sentence or an item, never with a heading. A first sentence that is too long
// is cut after a word.
func Abstract(s string, maxTokens int) string {
	var abstract, pending string // headings that wait for the text below them
	rest := withoutFrontMatter(s)
	for rest != "" {
		end := blockEnd(rest)
		for _, unit := range unitsOf(rest[:end]) {
			if unit.heading {
				if Tokens(pending) <= maxTokens { // more would be cut
					pending = join(pending, unit.line)
				}
				continue
			}
			next := join(abstract, join(pending, unit.line))
			if Tokens(next) > maxTokens {
				if Tokens(abstract) > maxTokens/2 {
					return abstract
				}
				return shorten(next, maxTokens)
			}
			abstract, pending = next, ""
		}
		rest = rest[end:]
	}
	if abstract == "" {
		abstract = shorten(strings.Join(strings.Fields(s), " "), maxTokens)
	}
	return abstract
}

// unit is a heading, a sentence or an item of a list, on one line.
type unit struct {
	line    string
	heading bool
}

// unitsOf lists the units of a block up to its code.
func unitsOf(block string) []unit {
	var found []unit
	for _, sentence := range proseOf(block) {
		line := strings.Join(strings.Fields(sentence), " ")
		if isHeading(line) {
			if title := titleOf(line); title != "" {
				found = append(found, unit{title + ":", true})
			}
			continue
		}
		item := startsItem(line)
		line = withoutMarker(line)
		if strings.Trim(line, "-=*_| :") == "" { // a rule, or the line below a table's header
			continue
		}
		if last := len(found) - 1; item && last >= 0 && !found[last].heading && endsOpen(found[last].line) {
			found[last].line += ";"
		}
		found = append(found, unit{line: line})
	}
	return found
}

// titleOf is the text of a heading.
func titleOf(line string) string { return strings.Trim(line, "#*_.:： ") }

// withoutMarker removes the marker of a list item, a quotation or a table row. Numbers stay.
func withoutMarker(line string) string {
	for _, marker := range [...]string{"- ", "* ", "+ ", "• ", "> "} {
		line = strings.TrimPrefix(line, marker)
	}
	for _, box := range [...]string{"[ ] ", "[x] ", "[X] "} {
		line = strings.TrimPrefix(line, box)
	}
	if strings.HasPrefix(line, "|") {
		line = strings.Trim(line, "| ")
	}
	return line
}

// endsOpen reports whether a line ends without punctuation.
func endsOpen(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	return !strings.ContainsRune(".!?:;,…。！？：；，、", last)
}

// withoutFrontMatter leaves out the YAML between two rules at the beginning of a document.
func withoutFrontMatter(s string) string {
	body, begins := strings.CutPrefix(s, "---\n")
	if !begins {
		return s
	}
	if _, after, ends := strings.Cut(body, "\n---\n"); ends && strings.TrimSpace(after) != "" {
		return after
	}
	return s
}

// proseOf lists the sentences of a block up to its code.
func proseOf(block string) []string {
	if i := strings.Index(block, "```"); i >= 0 {
		block = block[:i]
	}
	if isCode(block) {
		return nil
	}
	return sentences(block)
}

// join appends a sentence, after a space unless the script has none.
func join(before, sentence string) string {
	if before == "" {
		return sentence
	}
	if last, _ := utf8.DecodeLastRuneInString(before); strings.ContainsRune("。！？；…｡」』”）", last) {
		return before + sentence
	}
	return before + " " + sentence
}

// shorten cuts a line so that an ellipsis fits: after a word or, in a script without spaces, a character.
func shorten(line string, maxTokens int) string {
	const ellipsis = "…"
	if Tokens(line) <= maxTokens {
		return line
	}
	pieces := Pieces(line, max(maxTokens-Tokens(ellipsis), 1))
	return strings.TrimSpace(pieces[0]) + ellipsis
}

// Overview is s if it has at most maxTokens. Otherwise it consists of the headings and as much of the beginning of
// every paragraph as fits, in the order of s. It includes code only if all other text fits.
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

// overview selects sentences of paragraphs.
type overview struct {
	paragraphs []paragraph
	room       int // in hundredths of a token
}

type paragraph struct {
	sentences []string
	taken     int
	kind      paragraphKind
}

// paragraphKind is the order in which paragraphs are selected.
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
