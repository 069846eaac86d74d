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

// scan finds the first secret of our own classes.
func (s *Scrubber) scan(text string) (span, bool) {
	for i := 0; i < len(text); {
		var found span
		end := i + 1
		switch kinds[text[i]] {
		case nothing:
			i++
			continue
		case letter:
			found = beginning(text, i)
			end = wordEnd(text, i)
		case digit:
			end = wordEnd(text, i)
			found = s.number(text, i)
		case sign:
			if i+1 < len(text) && (isDigit(text[i+1]) || text[i+1] == '(') {
				found = s.number(text, i)
			}
		case at:
			found = s.address(text, i)
		case assign:
			found = assigned(text, i, i+1)
		case wide:
			if strings.HasPrefix(text[i:], wideColon) {
				found = assigned(text, i, i+len(wideColon))
			}
		case dash:
			found = pem(text, i)
		case escape:
			if i+1 < len(text) && strings.IndexByte("ntr", text[i+1]) >= 0 {
				end++
			}
		}
		if found.end > found.start && !s.off[found.class] {
			return found, true
		}
		i = end
	}
	return span{}, false
}

// wordEnd is where a run of letters, digits and _ ends.
func wordEnd(text string, i int) int {
	for i < len(text) && (kinds[text[i]] == letter || kinds[text[i]] == digit) {
		i++
	}
	return i
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isWord(c byte) bool  { return isUpper(c) || isLower(c) || isDigit(c) || c == '_' }

// wordAt tells whether there is a byte of a word.
func wordAt(text string, i int) bool { return i >= 0 && i < len(text) && isWord(text[i]) }

func digitAt(text string, i int) bool { return i >= 0 && i < len(text) && isDigit(text[i]) }
