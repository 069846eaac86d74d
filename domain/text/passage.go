package text

import (
	"cmp"
	"slices"
	"strings"
)

// pieceTokens is the granularity of a passage: about a paragraph.
const pieceTokens = 150

// Passage is s if it fits into maxTokens. Otherwise it consists of the sections that share most words with the query,
// up to sections of them, in the order of s. Headings become plain lines, after those above them. It is empty if s is
// too long and shares no word with the query.
func Passage(s, query string, sections, maxTokens int) string {
	p := passage{pieces: piecesOf(withoutFrontMatter(s))}
	p.chosen = make([]bool, len(p.pieces))
	for i := range p.chosen {
		p.chosen[i] = true
	}
	if cost(s) <= 2*maxTokens*oneToken { // otherwise it does not fit in any form
		if whole := p.String(); Tokens(whole) <= maxTokens {
			return whole
		}
	}
	clear(p.chosen)
	p.choose(scores(p.pieces, query), sections, maxTokens)
	return p.String()
}

// excerptTokens is the size of an excerpt: a paragraph below its headings.
const excerptTokens = 200

// Excerpt is what to show of a text that a query found: the section that fits the query best. If the text is hardly
// longer than an abstract, or shares no word with the query, it is the abstract.
func Excerpt(content, abstract, query string) string {
	if Tokens(content) > AbstractTokens {
		return cmp.Or(Passage(content, query, 1, excerptTokens), abstract)
	}
	return abstract
}

// piece is a part of a section.
type piece struct {
	path    string // the headings above it
	section int
	text    string
}

// piecesOf splits a text at its headings, and the sections into paragraphs.
func piecesOf(s string) []piece {
	var pieces []piece
	var path []string // by level
	section := 0
	for _, block := range blocks(s) {
		block = strings.TrimLeft(block, "\r\n")
		for isHeading(block) {
			end := lineEnd(block, 0)
			level := len(block) - len(strings.TrimLeft(block, "#"))
			path = append(path[:min(level-1, len(path))], titleOf(strings.TrimSpace(block[:end])))
			section++
			block = strings.TrimLeft(block[end:], "\r\n")
		}
		for _, part := range Pieces(block, pieceTokens) {
			if strings.TrimSpace(part) != "" {
				pieces = append(pieces, piece{strings.Join(path, " › "), section, part})
			}
		}
	}
	return pieces
}

// scores are the BM25 scores of the pieces for a query.
func scores(pieces []piece, query string) []float64 {
	counts, lengths := make([]map[string]int, len(pieces)), make([]int, len(pieces))
	containing, total := map[string]int{}, 0
	for i, p := range pieces {
		counts[i], lengths[i] = TermCounts(p.path + "\n" + p.text)
		total += lengths[i]
		for term := range counts[i] {
			containing[term]++
		}
	}
	all := make([]float64, len(pieces))
	for _, term := range Query(query) {
		worth := IDF(len(pieces), containing[term.Term])
		for i := range pieces {
			if n := counts[i][term.Term]; n > 0 {
				all[i] += worth * Saturation(n, lengths[i], float64(total)/float64(len(pieces)))
			}
		}
	}
	return all
}

type passage struct {
	pieces []piece
	chosen []bool
}

// choose takes the best piece and the rest of its section, then the next best, while they fit. It skips pieces with
// less than half of the best score.
func (p *passage) choose(scores []float64, sections, maxTokens int) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	begun := map[int]bool{}
	for _, i := range order {
		section := p.pieces[i].section
		if scores[i] == 0 || scores[i] < scores[order[0]]/2 || len(begun) == sections && !begun[section] ||
			!p.take(i, maxTokens) {
			continue
		}
		begun[section] = true
		for _, step := range [...]int{1, -1} {
			for next := i + step; next >= 0 && next < len(p.pieces) && p.pieces[next].section == section; next += step {
				if !p.take(next, maxTokens) {
					break
				}
			}
		}
	}
}

// take takes a piece if it fits.
func (p *passage) take(i, maxTokens int) bool {
	if p.chosen[i] {
		return true
	}
	p.chosen[i] = true
	if Tokens(p.String()) > maxTokens {
		p.chosen[i] = false
	}
	return p.chosen[i]
}

// String joins the chosen pieces, with an ellipsis for each gap.
func (p *passage) String() string {
	var out strings.Builder
	last := -1
	for i, chosen := range p.chosen {
		if !chosen {
			continue
		}
		piece := p.pieces[i]
		skipped := i > last+1
		begins := last < 0 || p.pieces[last].section != piece.section
		if out.Len() > 0 && (skipped || begins) {
			out.WriteString("\n")
		}
		if begins && piece.path != "" {
			out.WriteString(piece.path + ":\n")
		}
		if skipped && (i == 0 || p.pieces[i-1].section == piece.section) {
			out.WriteString("…\n")
		}
		if !begins && !skipped {
			out.WriteString(piece.text)
		} else {
			out.WriteString(strings.TrimLeft(piece.text, "\r\n"))
		}
		last = i
	}
	if last >= 0 && last+1 < len(p.pieces) && p.pieces[last+1].section == p.pieces[last].section {
		out.WriteString("\n…")
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
