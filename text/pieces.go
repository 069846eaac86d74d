package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pieces cuts s into pieces of at most maxTokens by Tokens, at the ends of paragraphs and code blocks where it can,
// else of sentences or lines, else of words, else between characters. The pieces joined are s. A character whose own
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

// blocks cuts a text behind its paragraphs and code blocks, with the empty lines that follow them. A heading stays with
// what it heads. Nothing is lost.
func blocks(s string) []string {
	return cut(s, blockEnd)
}

// blockEnd finds where the first block of s ends.
func blockEnd(s string) int {
	fence := ""
	begun, empty, heading := false, false, false
	for i := 0; i < len(s); {
		end := lineEnd(s, i)
		line := strings.TrimSpace(s[i:end])
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
				empty = true // what follows the fence is another block
			}
		case line == "":
			empty = begun && !heading
		case empty, begun && !heading && (isHeading(line) || fenceOf(line) != ""):
			return i
		default:
			begun = true
			heading = isHeading(line)
			fence = fenceOf(line)
		}
		i = end
	}
	return len(s)
}

// fenceOf returns the marks that open a code block, if the line does.
func fenceOf(line string) string {
	for _, fence := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(line, fence) {
			return fence
		}
	}
	return ""
}

// isCode reports whether a block is fenced.
func isCode(block string) bool { return fenceOf(strings.TrimSpace(block)) != "" }

// lineEnd finds the beginning of the line behind the one at i.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s)
}

// sentences cuts prose behind its sentences, with the blanks that follow them. Nothing is lost.
func sentences(s string) []string {
	return cut(s, sentenceEnd)
}

// cut divides s into the parts that next measures.
func cut(s string, next func(string) int) []string {
	var parts []string
	for s != "" {
		end := next(s)
		parts = append(parts, s[:end])
		s = s[end:]
	}
	return parts
}

// sentenceEnd finds where the first sentence of s ends.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '。', '！', '？', '；', '｡', '…':
			return skipBlanks(s, skipClosers(s, i))
		case '.', '!', '?':
			end := skipClosers(s, i)
			if end == len(s) {
				return end
			}
			if isBlank(s[end]) && !(r == '.' && (isAbbreviation(s[:i-1]) || isNumber(s[:i-1]))) {
				return skipBlanks(s, end)
			}
		case '\n':
			if isHeading(s[:i]) {
				return skipBlanks(s, i)
			}
			if startsItem(s[i:]) {
				return i
			}
		}
	}
	return len(s)
}

// skipClosers passes repeated signs, closing quotes and brackets.
func skipClosers(s string, i int) int {
	rest := strings.TrimLeft(s[i:], "。！？.!?…\"'”’」』）)]】》*_`")
	return len(s) - len(rest)
}

func skipBlanks(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isNumber reports whether a sentence is so far the number of a list's item.
func isNumber(s string) bool {
	return strings.Trim(s, " \t0123456789") == "" && strings.TrimSpace(s) != ""
}

// isAbbreviation reports whether what stands before a full stop is an abbreviation or an initial.
func isAbbreviation(s string) bool {
	start := strings.LastIndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) + 1
	switch word := s[start:]; strings.ToLower(word) {
	case "e.g", "i.e", "cf", "vs", "mr", "mrs", "ms", "dr", "prof", "st", "no", "fig", "approx", "al", "resp":
		return true
	default:
		return len(word) == 1 && isUpper(word[0]) && word != "I"
	}
}

// startsItem reports whether a line begins something of its own: a heading, an item of a list, a row of a table.
func startsItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if isHeading(line) || strings.HasPrefix(line, "|") || strings.HasPrefix(line, ">") {
		return true
	}
	marker := strings.TrimLeft(line, "0123456789")
	if marker != line {
		return strings.HasPrefix(marker, ". ") || strings.HasPrefix(marker, ") ") || strings.HasPrefix(marker, "、")
	}
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") ||
		strings.HasPrefix(line, "• ")
}

// isHeading reports whether a line is a Markdown heading.
func isHeading(line string) bool {
	text := strings.TrimLeft(line, "#")
	return text != line && len(line)-len(text) <= 6 && strings.HasPrefix(text, " ")
}

// Sentences cuts prose behind its sentences. Blanks around them are left out, and so is what consists of
// nothing else.
func Sentences(s string) []string {
	var all []string
	for line := range strings.SplitSeq(s, "\n") {
		for _, sentence := range sentences(line) {
			if sentence = strings.TrimSpace(sentence); sentence != "" {
				all = append(all, sentence)
			}
		}
	}
	return all
}
