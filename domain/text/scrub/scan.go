package scrub

import "strings"

// Kinds of bytes at which a secret may begin. This is the prefilter: rules run only at these bytes.
const (
	nothing = iota
	letter  // a word, which may be the beginning of a key
	digit   // a number
	at      // the middle of an address
	sign    // a number with + or (
	assign  // a value, after : or =
	escape  // \n before a word
	wide    // the first byte of a full-width colon
)

var kinds = func() (kinds [256]uint8) {
	for c := range kinds {
		switch {
		case isUpper(byte(c)), isLower(byte(c)), c == '_':
			kinds[c] = letter
		case isDigit(byte(c)):
			kinds[c] = digit
		}
	}
	kinds['@'], kinds['%'] = at, at
	kinds['+'], kinds['('] = sign, sign
	kinds[':'], kinds['='] = assign, assign
	kinds['\\'], kinds[wideColon[0]] = escape, wide
	return kinds
}()

const wideColon = "："

// scanner finds the secrets of the built-in classes in one text, except private keys. Rules read the text by ahead,
// before and end, which count the bytes for the limit of time.
type scanner struct {
	*scrubbing
	text  string
	from  int // end of the last secret
	noJWT int // no token begins before this offset
}

// scan finds secrets in their order. It may miss some: a part between two secrets can be a secret once it stands
// alone.
func (w *scrubbing) scan(text string) (spans []span) {
	s := &scanner{scrubbing: w, text: text}
	for i, counted := 0, 0; i < len(text); {
		if i-counted > 1<<10 {
			if !w.spend(i - counted) {
				return nil
			}
			counted = i
		}
		var found span
		end := i + 1
		switch kinds[text[i]] {
		case nothing:
			i = nothingEnd(text, i+1)
			continue
		case letter:
			if i+shortestKey <= len(text) && begins[pair(text[i:])] {
				found = s.beginning(i)
			}
			if found.end == 0 && !s.off[IBAN] {
				found = s.iban(i)
			}
			end = wordEnd(text, i)
		case digit:
			found = s.number(i)
			end = wordEnd(text, i)
		case sign:
			if i+1 < len(text) && (isDigit(text[i+1]) || text[i+1] == '(') {
				found = s.number(i)
			}
		case at:
			found = s.address(i)
		case assign:
			found = s.assigned(i, i+1)
		case wide:
			if strings.HasPrefix(text[i:], wideColon) {
				found = s.assigned(i, i+len(wideColon))
			}
		case escape:
			if i+1 < len(text) && strings.IndexByte("ntr", text[i+1]) >= 0 {
				end++
			}
		}
		if found.end > found.start && !w.off[found.class] {
			spans = append(spans, found)
			end, s.from = found.end, found.end
		}
		i = end
	}
	return spans
}

// nothingEnd is the end of a run of bytes at which no secret may begin.
func nothingEnd(text string, i int) int {
	for ; i < len(text); i++ {
		if kinds[text[i]] != nothing {
			return i
		}
	}
	return i
}

// wordEnd is the end of a run of letters, digits and _.
func wordEnd(text string, i int) int {
	for ; i < len(text); i++ {
		if !isWord(text[i]) {
			return i
		}
	}
	return i
}

// ahead returns at most n bytes of the text from i on.
func (s *scanner) ahead(i, n int) string {
	window := s.text[i:min(len(s.text), i+n)]
	s.spend(len(window))
	return window
}

// before returns at most n bytes before i.
func (s *scanner) before(i, n int) string {
	window := s.text[max(0, i-n):i]
	s.spend(len(window))
	return window
}

// end is the end of the run of bytes of a kind that begins at i.
func (s *scanner) end(i int, is func(byte) bool) int {
	end := i
	for end < len(s.text) && is(s.text[end]) {
		end++
	}
	s.spend(end - i)
	return end
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isWord(c byte) bool  { return kinds[c]-letter <= digit-letter }
func isRun(c byte) bool   { return isWord(c) || c == '-' }
