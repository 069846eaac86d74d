package scrub

import "strings"

// What a byte may begin. A text is read once, and looked at more closely only where something may begin.
const (
	nothing = iota
	letter  // a word, that may be the beginning of a key
	digit   // a number
	at      // an address
	sign    // a number with + or (
	assign  // a value, after : or =
	dash    // -----BEGIN
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
	kinds['-'], kinds['\\'], kinds[wideColon[0]] = dash, escape, wide
	return kinds
}()

const wideColon = "："

// scanner finds the secrets of our own classes in one text, from its beginning to its end. What it knows of the text ahead
// of it is kept, so that no byte is looked at more often than a constant number of times.
type scanner struct {
	*scrubbing
	text      string
	from      int // where the last secret ended
	runTo     int // where the run of letters, digits, _ and - ends that was read last
	noJWT     int // no token begins before
	scheme    int // where :// was seen last; -1 at first
	token     int // where a token begins that was read up to tokenTo
	tokenTo   int
	pemEnding []int // the next last line of a private key, if pemFrom says so
	pemFrom   int   // from where it was looked for; -1 at first
}

// scan finds the secrets of our own classes, in their order. Not all of them: what is left between them may be one once it
// stands alone.
func (w *scrubbing) scan(text string) (spans []span) {
	s := &scanner{scrubbing: w, text: text, scheme: -1, pemFrom: -1}
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
			for i++; i < len(text) && kinds[text[i]] == nothing; {
				i++
			}
			continue
		case letter:
			found = s.beginning(i)
			end = s.wordEnd(i)
		case digit:
			end = s.wordEnd(i)
			found = s.number(i)
		case sign:
			if i+1 < len(text) && (isDigit(text[i+1]) || text[i+1] == '(') {
				found = s.number(i)
			}
		case at:
			found = s.address(i)
		case assign:
			if strings.HasPrefix(text[i:], "://") {
				s.scheme = i
			}
			found = s.assigned(i, i+1)
		case wide:
			if strings.HasPrefix(text[i:], wideColon) {
				found = s.assigned(i, i+len(wideColon))
			}
		case dash:
			found = s.pem(i)
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

// wordEnd is where a run of letters, digits and _ ends.
func (s *scanner) wordEnd(i int) int {
	for i < len(s.text) && isWord(s.text[i]) {
		i++
	}
	return i
}

// runEnd is where a run of letters, digits, _ and - ends.
func (s *scanner) runEnd(i int) int {
	if i >= s.runTo {
		s.runTo = s.end(i, len(s.text), isRun)
	}
	return s.runTo
}

// end is where bytes of a kind end, at most at a limit.
func (s *scanner) end(i, limit int, is func(byte) bool) int {
	end := i
	for end < limit && is(s.text[end]) {
		end++
	}
	s.spend(end - i)
	return end
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isWord(c byte) bool  { return kinds[c] == letter || kinds[c] == digit }
func isRun(c byte) bool   { return isWord(c) || c == '-' }

// wordAt tells whether there is a byte of a word.
func wordAt(text string, i int) bool { return i >= 0 && i < len(text) && isWord(text[i]) }

func digitAt(text string, i int) bool { return i >= 0 && i < len(text) && isDigit(text[i]) }
