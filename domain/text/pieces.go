package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pieces splits s into pieces of at most maxTokens by Tokens. It prefers the ends of paragraphs and code blocks, then
// of sentences or lines, then of words, then of characters. The joined pieces are s. A character with an estimate
// above maxTokens is a piece of its own.
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

// cutters split a text ever more finely.
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

// characterEnd is the length of the first character of s, even if it is not valid.
func characterEnd(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// packer fills pieces in order.
type packer struct {
	limit  int
	source string // what is not yet in a piece
	pieces []string
	length int // of the current piece, in bytes
	cost   int // of the current piece, in hundredths of a token
}

// pack adds s to the current piece. If s is too long for a piece, the cutters from level on split it.
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

// close ends the current piece.
func (p *packer) close() {
	if p.length == 0 {
		return
	}
	p.pieces = append(p.pieces, p.source[:p.length])
	p.source = p.source[p.length:]
	p.length, p.cost = 0, 0
}

// blocks splits a text after its paragraphs and code blocks, including the empty lines that follow. A heading stays
// with the text below it. Nothing is lost.
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

// lineEnd finds the beginning of the line after the one at i.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s)
}

// sentences splits prose after its sentences, including the blanks that follow. Nothing is lost.
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
	closed := 0 // the end of the last run of closers, however many characters of it end a sentence
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '。', '！', '？', '；', '｡', '…':
			return skipBlanks(s, skipClosers(s, i))
		case '.', '!', '?':
			if i > closed {
				closed = skipClosers(s, i)
			}
			end := closed
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

// skipClosers skips repeated punctuation, closing quotes and brackets.
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

// isNumber reports whether the sentence so far is only the number of a list item.
func isNumber(s string) bool {
	return strings.Trim(s, " \t0123456789") == "" && strings.TrimSpace(s) != ""
}

// isAbbreviation reports whether an abbreviation or an initial precedes a full stop.
func isAbbreviation(s string) bool {
	start := strings.LastIndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) + 1
	switch word := s[start:]; strings.ToLower(word) {
	case "e.g", "i.e", "cf", "vs", "mr", "mrs", "ms", "dr", "prof", "st", "no", "fig", "approx", "al", "resp":
		return true
	default:
		return len(word) == 1 && isUpper(word[0]) && word != "I"
	}
}

// startsItem reports whether a line begins a heading, a list item or a table row.
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
	const deepest = 6
	marks := line[:min(len(line), deepest+1)]
	level := len(marks) - len(strings.TrimLeft(marks, "#"))
	return 0 < level && level <= deepest && strings.HasPrefix(line[level:], " ")
}

// Sentences splits prose after its sentences, without surrounding blanks and empty sentences.
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
