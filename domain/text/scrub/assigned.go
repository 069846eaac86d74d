package scrub

import (
	"math"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

// Names of secret values, without separators between words. A name may have other words before that.
var (
	secretNames = strings.Fields(`apikey apisecret secretkey accesskey accesskeyid accesskeysecret secretaccesskey token
		secret privatekey signingkey encryptionkey credential credentials 密钥 令牌`)
	passwordNames = strings.Fields(`password passwd passphrase pwd 密码 口令`)
)

// Parts of placeholder values.
var placeholders = strings.Fields(`your example xxxx **** placeholder changeme redacted process.env os.environ env.`)

var (
	value = text.Expression("^[ \t\"'`\\\\>=]{0,6}([A-Za-z0-9_+/=.~!@#$%^&*?:-]+)")
	// Names such as retry-after-429 and config.v2.access_token.
	plainWords = text.Expression(`^[-_./:+=]*(?:(?:(?:[^-_./:+=0-9][a-z]{0,15}|[0-9][a-z]{1,15})[0-9]{0,4}|[0-9]{1,4})` +
		`(?:[-_./:+=]+|$))*$`)
)

const (
	longestName      = 48
	longestValue     = 512
	shortestSecret   = 16
	shortestPassword = 8
	judged           = 128 // bytes of a longer value that are tested for randomness
)

// assigned finds a secret value after a name and the colon or equals sign at i; the value follows at from.
func (s *scanner) assigned(i, from int) span {
	const mostDivides = 6
	last := i
	for last > max(0, i-mostDivides) && strings.IndexByte(" \t\"'`\\]", s.text[last-1]) >= 0 {
		last--
	}
	if last < 2 || !nameEnds[pair(s.text[last-2:])] {
		return span{}
	}
	name := s.before(last, longestName)
	var room [20]byte
	words := lastWords(room[:0], name)
	isSecret, isPassword := endsWith(words, secretNames), endsWith(words, passwordNames)
	if !isSecret && !isPassword {
		return span{}
	}
	found := value().FindStringSubmatchIndex(s.ahead(from, longestValue))
	if found == nil {
		return span{}
	}
	start, end := from+found[2], from+found[3]
	if parameter := strings.IndexByte(s.text[start:end], '&'); parameter >= 0 && inQuery(name) {
		end = start + parameter
	}
	end = start + len(strings.TrimRight(s.text[start:end], ".:"))
	v := s.text[start:min(end, start+judged)]
	if end < len(s.text) && strings.IndexByte("([{", s.text[end]) >= 0 || isPlaceholder(v) || isJWT(v) {
		return span{}
	}
	if isSecret && looksRandom(v) || isPassword && looksLikePassword(v) {
		return span{start, end, APIKey}
	}
	return span{}
}

// isPlaceholder reports whether a value is a placeholder, such as $TOKEN, %s and your-api-key.
func isPlaceholder(value string) bool {
	lower := strings.ToLower(value)
	return value == "" || strings.IndexByte("$%*&/.", value[0]) >= 0 ||
		slices.ContainsFunc(placeholders, func(word string) bool { return strings.Contains(lower, word) })
}

// inQuery reports whether a name is part of a URL's query or of a form.
func inQuery(name string) bool {
	return strings.ContainsAny(name[strings.LastIndexAny(name, " \t\n\"'")+1:], "?&")
}

// nameEnds has the last pairs of bytes of all names, in lower and upper case.
var nameEnds = func() (pairs [1 << 16]bool) {
	for _, name := range slices.Concat(secretNames, passwordNames) {
		end := name[len(name)-2:]
		pairs[pair(end)], pairs[pair(strings.ToUpper(end))] = true, true
	}
	return pairs
}()

// pair is the number of a pair of bytes.
func pair(two string) int { return int(two[0])<<8 | int(two[1]) }

// lastWords appends the words at the end of a text, in lower case and without separators.
func lastWords(room []byte, text string) []byte {
	for i := len(text) - 1; i >= 0 && len(room) < cap(room); i-- {
		switch c := text[i]; {
		case isUpper(c):
			room = append(room, c|0x20)
		case isLower(c), isDigit(c), c >= 0x80:
			room = append(room, c)
		case strings.IndexByte("_-. ", c) < 0:
			i = 0
		}
	}
	slices.Reverse(room)
	return room
}

func endsWith(text []byte, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return len(text) >= len(word) && string(text[len(text)-len(word):]) == word
	})
}

const digits = "0123456789"

// looksRandom tells keys from words: letters and digits are mixed, and no letter is much more frequent than others.
func looksRandom(value string) bool {
	const leastEntropy = 3.0
	numbers, alphabet := 0, 0
	for i := range len(value) {
		switch {
		case isDigit(value[i]):
			numbers++
		case isUpper(value[i]), isLower(value[i]):
			alphabet++
		}
	}
	return len(value) >= shortestSecret && numbers >= 2 && alphabet >= 2 && entropy(value) >= leastEntropy &&
		!plainWords().MatchString(value)
}

// looksLikePassword tells passwords from prose about passwords.
func looksLikePassword(value string) bool {
	const leastEntropy = 2.5
	kinds := 0
	for _, kind := range []string{letters[:26], letters[26:], digits, "+=~!@#$%^&*?:"} {
		if strings.ContainsAny(value, kind) {
			kinds++
		}
	}
	return len(value) >= shortestPassword && kinds >= 2 && strings.ContainsAny(value, digits+"+=!#$%&*?:") &&
		entropy(value) >= leastEntropy && (!strings.ContainsAny(value, "-_./") || !plainWords().MatchString(value))
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
