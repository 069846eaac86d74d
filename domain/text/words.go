package text

import (
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxParts is the number of parts beyond which a mixture of letters and digits is a hash, not a name.
const maxParts = 6

// identifier adds a name of ASCII letters, digits and underscores: whole, and the words it is made of.
func (t *tokenizer) identifier(begin, end int) {
	for begin < end && t.lower[begin] == '_' {
		begin++
	}
	for end > begin && t.lower[end-1] == '_' {
		end--
	}
	if begin == end {
		return
	}
	if strings.IndexByte(t.lower[begin:end], '_') < 0 {
		t.camel(begin, end)
		return
	}
	t.add(t.lower[begin:end])
	t.split(begin, end, "_", t.camel)
}

// camel adds a name of letters and digits: "HTTPServer" is also "http" and "server", "sha256" also "sha" and "256".
func (t *tokenizer) camel(begin, end int) {
	var ends [maxParts]int
	n := 0
	for i := begin; i < end; {
		i = t.partEnd(i, end)
		if n == maxParts {
			t.exact(t.lower[begin:end])
			return
		}
		ends[n] = i
		n++
	}
	if n == 1 {
		t.part(begin, end)
		return
	}
	if n == 2 && isDigit(t.lower[begin]) && isOrdinal(t.lower[ends[0]:end]) {
		t.number(begin, ends[0])
		return
	}
	t.whole(begin, end)
	for i, partEnd := range ends[:n] {
		partBegin := begin
		if i > 0 {
			partBegin = ends[i-1]
		}
		if partEnd-partBegin > 1 || isDigit(t.lower[partBegin]) {
			t.part(partBegin, partEnd)
		}
	}
}

// partEnd finds the end of the word, acronym or number at i.
func (t *tokenizer) partEnd(i, end int) int {
	s, begin := t.source, i
	if isDigit(s[i]) {
		for i < end && isDigit(s[i]) {
			i++
		}
		return i
	}
	for i < end && isUpper(s[i]) {
		i++
	}
	upper := i - begin
	for i < end && isLower(s[i]) {
		i++
	}
	switch lower := i - begin - upper; {
	case upper < 2 || lower == 0:
		return i
	case lower == 1 && s[i-1] == 's' && (i == end || !isLower(s[i])): // the plural of an acronym: IDs
		return i
	default: // the last capital begins a word: HTTPServer
		return begin + upper - 1
	}
}

func (t *tokenizer) whole(begin, end int) {
	whole := t.lower[begin:end]
	if isEnglish(whole) {
		whole = stemSeen(whole, t.stems) // the same as for a writer without capitals
	}
	t.add(whole)
}

func (t *tokenizer) part(begin, end int) {
	if isDigit(t.lower[begin]) {
		t.number(begin, end)
		return
	}
	t.word(t.lower[begin:end])
}

func isOrdinal(s string) bool { return s == "st" || s == "nd" || s == "rd" || s == "th" }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// dense adds the characters at i of a script without spaces: every pair of neighbours, single Han characters, and a
// lone character of any such script. It returns the end of the run.
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

// characterAt is the size of the dense character at s[i:], including its marks; 0 if there is none.
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

// abridge shortens a long term to its beginning and a hash of the whole, so that different terms stay different.
func abridge(term string) string {
	const kept = 44
	hash := fnv.New64a()
	hash.Write([]byte(term)) //nolint:errcheck // a hash never fails to be written
	end := kept
	for !utf8.RuneStart(term[end]) {
		end--
	}
	return term[:end] + "#" + strconv.FormatUint(hash.Sum64(), 16)
}
