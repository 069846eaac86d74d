package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenizer splits one text. Offsets into source and lower agree, since only ASCII letters are lowered first.
type tokenizer struct {
	source string
	lower  string
	terms  []string
	words  int
	stems  map[string]string // of words seen before

	// pairsOnly omits single Han characters that are part of a pair, for queries.
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
	t.stems = stemCaches.Get().(map[string]string)
	defer stemCaches.Put(t.stems)
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
	t.add(stemSeen(w, t.stems))
}

// exact adds a word unchanged.
func (t *tokenizer) exact(w string) {
	t.words++
	t.add(w)
}

// picture adds an emoji, except modifiers and joiners.
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

// lowerASCII converts A to Z to lower case and keeps all offsets.
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

// chain adds the word at i, or words linked by single joiners, such as a path, a version or an address. It returns
// the end of the chain.
func (t *tokenizer) chain(i int) int {
	end, shape := t.measure(i)
	switch {
	case t.negation(end):
		t.exact("not")
	case shape == lowerLetter:
		t.word(t.lower[i:end])
	case shape == digit:
		t.number(i, end)
	case shape&foreign != 0:
		t.foreign(i, end)
	case shape&joiner == 0:
		t.identifier(i, end)
	case shape&(lowerLetter|upperLetter|underscore) == 0 && !strings.ContainsAny(t.lower[i:end], "-/"):
		t.exact(strings.ReplaceAll(t.lower[i:end], ",", "")) // 3.14, 1,000 or 10:43
	default:
		t.linked(i, end)
	}
	if suffix := t.suffix(end); suffix > 0 && end-i <= 8 {
		t.add(t.lower[i : end+suffix]) // C++, C#
		return end + suffix
	}
	return t.contraction(end)
}

// measure finds the end of the chain at i, and its shape.
func (t *tokenizer) measure(i int) (end int, found shape) {
	s := t.source
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			switch shape := shapes[c]; {
			case shape == 0:
				return i, found
			case shape != joiner:
				found |= shape
			case t.joins(i):
				found |= joiner
			default:
				return i, found
			}
			i++
			continue
		}
		class, size := classAt(s, i)
		if class != classWord {
			return i, found
		}
		found |= foreign
		i += size
	}
	return i, found
}

// joins reports whether the joiner at i links two words.
func (t *tokenizer) joins(i int) bool {
	s := t.source
	if i+1 == len(s) {
		return false
	}
	if class, _ := classAt(s, i+1); class != classWord {
		return false
	}
	switch s[i] {
	case ',': // only between thousands
		return isDigit(s[i-1]) && i+3 < len(s) && isDigit(s[i+1]) && isDigit(s[i+2]) && isDigit(s[i+3]) &&
			(i+4 == len(s) || !isDigit(s[i+4]))
	case '\'':
		return t.contraction(i) == i
	default:
		return true
	}
}

// contraction returns the end of "'s", "'ll" and the like at i, which carry no meaning; i if there is none.
func (t *tokenizer) contraction(i int) int {
	if i+1 >= len(t.lower) || t.lower[i] != '\'' {
		return i
	}
	end := i + 1
	for end < len(t.lower) && shapes[t.lower[end]&0x7f] == lowerLetter && t.lower[end] < utf8.RuneSelf {
		end++
	}
	switch t.lower[i+1 : end] {
	case "s", "ll", "re", "ve", "d", "m", "t":
		return end
	}
	return i
}

// negation reports whether the word before i is a negation with an apostrophe: "don't".
func (t *tokenizer) negation(i int) bool {
	return t.lower[i-1] == 'n' && strings.HasPrefix(t.lower[i:], "'t") && t.contraction(i) == i+2
}

// suffix is the length of the plus signs or the number sign at the end of names such as C++ and C#.
func (t *tokenizer) suffix(i int) int {
	n := 0
	for i+n < len(t.lower) && n < 2 && (t.lower[i+n] == '+' || n == 0 && t.lower[i] == '#') {
		n++
	}
	if i+n < len(t.lower) && n > 0 {
		if class, _ := classAt(t.source, i+n); class == classWord {
			return 0
		}
	}
	return n
}

// linked adds a chain whole, its segments (between slashes, colons and at signs) and its identifiers.
func (t *tokenizer) linked(begin, end int) {
	whole := strings.ReplaceAll(t.lower[begin:end], ",", "")
	t.add(whole)
	if len(whole) > 2 && whole[0] == 'v' && isDigit(whole[1]) {
		t.add(whole[1:])
	}
	t.split(begin, end, `/:@\&,`, func(i, j int) {
		if j-i < end-begin && strings.ContainsAny(t.lower[i:j], "-.'") {
			t.add(t.lower[i:j])
		}
		t.split(i, j, "-.'", t.identifier)
	})
}

// split calls part for each text between separators.
func (t *tokenizer) split(begin, end int, separators string, part func(i, j int)) {
	for begin < end {
		i := strings.IndexAny(t.lower[begin:end], separators)
		if i < 0 {
			part(begin, end)
			return
		}
		if i > 0 {
			part(begin, begin+i)
		}
		begin += i + 1
	}
}

// foreign adds a chain with letters beyond ASCII: its words folded, and whole if it is linked.
func (t *tokenizer) foreign(begin, end int) {
	words := strings.FieldsFunc(t.source[begin:end], func(r rune) bool {
		return r < utf8.RuneSelf && shapes[r] == joiner
	})
	for _, word := range words {
		switch folded := Fold(word); {
		case folded == "":
		case isEnglish(folded):
			t.word(folded)
		default:
			t.exact(folded)
		}
	}
	if len(words) > 1 {
		t.add(Fold(t.source[begin:end]))
	}
}

// number adds digits without leading zeros, so that 05 and 5 are the same.
func (t *tokenizer) number(begin, end int) {
	digits := strings.TrimLeft(t.lower[begin:end], "0")
	if digits == "" {
		digits = "0"
	}
	t.exact(digits)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isMark reports whether r only modifies the letter before it.
func isMark(r rune) bool { return unicode.Is(unicode.Mn, r) }
