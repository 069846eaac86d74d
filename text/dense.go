package text

import (
	"unicode"
	"unicode/utf8"
)

// dense adds the run of characters at i of a script without spaces: every pair of neighbours, Han characters also
// alone, and a lone character whatever its script. It returns where the run ends.
func (t *tokenizer) dense(i int) int {
	begin := i
	previous, characters := -1, 0
	for i < len(t.source) {
		size, han := characterAt(t.source, i)
		if size == 0 {
			break
		}
		if han && !t.pairsOnly {
			t.add(t.source[i : i+size])
		}
		if previous >= 0 {
			t.add(t.source[previous : i+size])
		}
		previous = i
		i += size
		characters++
	}
	if r, _ := utf8.DecodeRuneInString(t.source[begin:]); characters == 1 && (t.pairsOnly || !unicode.Is(unicode.Han, r)) {
		t.add(t.source[begin:i])
	}
	t.words += characters
	return i
}

// characterAt measures the dense character at s[i:] with the marks that belong to it; 0 if there is none.
func characterAt(s string, i int) (size int, han bool) {
	if s[i] < utf8.RuneSelf {
		return 0, false
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if usualHan(r) {
		return size, true
	}
	if classOf(r) != classDense {
		return 0, false
	}
	for i+size < len(s) {
		mark, n := utf8.DecodeRuneInString(s[i+size:])
		if !unicode.Is(unicode.M, mark) || classOf(mark) != classDense {
			break
		}
		size += n
	}
	return size, unicode.Is(unicode.Han, r)
}
