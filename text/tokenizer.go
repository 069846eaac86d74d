package text

import (
	"strings"
	"unicode/utf8"
)

// tokenizer cuts one text. Offsets into source and lower agree, since only ASCII letters are lowered ahead.
type tokenizer struct {
	source string
	lower  string
	terms  []string
	words  int

	// pairsOnly leaves out single Han characters that already stand in a pair: a question needs them only when alone.
	pairsOnly bool
}

func newTokenizer(s string) *tokenizer {
	s = normalize(s)
	usual := len(s)/5 + 1
	if !isASCII(s) {
		usual = len(s)*2/3 + 1 // a Han character is three bytes and two terms
	}
	return &tokenizer{source: s, lower: lowerASCII(s), terms: make([]string, 0, usual)}
}

func (t *tokenizer) run() {
	for i := 0; i < len(t.source); {
		switch class, size := classAt(t.source, i); class {
		case classWord:
			i = t.chain(i)
		case classDense:
			i = t.dense(i)
		case classPicture:
			t.picture(t.source[i : i+size])
			i += size
		default:
			i += size
		}
	}
}

// word adds a plain word of lower-case ASCII letters.
func (t *tokenizer) word(w string) {
	t.words++
	t.add(Stem(w))
}

// exact adds a word as it is.
func (t *tokenizer) exact(w string) {
	t.words++
	t.add(w)
}

// picture adds an emoji, except what only colours or joins others.
func (t *tokenizer) picture(p string) {
	if p >= "\U0001F3FB" && p <= "\U0001F3FF" {
		return
	}
	t.exact(p)
}

func (t *tokenizer) add(term string) {
	if len(term) > MaxTermBytes {
		term = abridge(term)
	}
	t.terms = append(t.terms, term)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lowerASCII lowers the letters A to Z and keeps every offset.
func lowerASCII(s string) string {
	first := 0
	for first < len(s) && !isUpper(s[first]) {
		first++
	}
	if first == len(s) {
		return s
	}
	var lower strings.Builder
	lower.Grow(len(s))
	lower.WriteString(s[:first])
	for i := first; i < len(s); i++ {
		c := s[i]
		if isUpper(c) {
			c += 'a' - 'A'
		}
		lower.WriteByte(c)
	}
	return lower.String()
}
