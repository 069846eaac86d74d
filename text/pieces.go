package text

import (
	"strings"
	"unicode/utf8"
)

// Pieces cuts s into pieces of at most maxTokens by Tokens, at the ends of paragraphs and code blocks where it can, else
// of sentences or lines, else of words, else between characters. The pieces joined are s. A character whose own
// estimate is above maxTokens is a piece.
func Pieces(s string, maxTokens int) []string {
	if s == "" {
		return nil
	}
	limit := max(maxTokens, 1) * oneToken
	p := packer{limit: limit, source: s}
	p.pack(s, 0)
	p.close()
	return p.pieces
}

// cutters divide a text ever more finely.
var cutters = []func(string) []string{
	blocks,
	func(s string) []string {
		if isCode(s) {
			return strings.SplitAfter(s, "\n")
		}
		return sentences(s)
	},
	func(s string) []string { return strings.SplitAfter(s, " ") },
	func(s string) []string { return cut(s, characterEnd) },
}

// characterEnd measures the first character of s, whole even if it is not valid.
func characterEnd(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// packer fills pieces in order.
type packer struct {
	limit  int
	source string // what is not yet in a piece
	pieces []string
	length int // of the piece at hand, in bytes
	cost   int // of the piece at hand, in hundredths of a token
}

// pack adds s to the piece at hand, divided by the cutters from level on if it is too long for any piece.
func (p *packer) pack(s string, level int) {
	cost := cost(s)
	if cost > p.limit && level < len(cutters) {
		for _, part := range cutters[level](s) {
			p.pack(part, level+1)
		}
		return
	}
	if p.cost+cost > p.limit {
		p.close()
	}
	p.length += len(s)
	p.cost += cost
}

// close ends the piece at hand.
func (p *packer) close() {
	if p.length == 0 {
		return
	}
	p.pieces = append(p.pieces, p.source[:p.length])
	p.source = p.source[p.length:]
	p.length, p.cost = 0, 0
}
