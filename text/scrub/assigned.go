package scrub

import (
	"math"
	"slices"
	"strings"
)

// Names whose values are secret, without what divides their words. A name may say more before that.
var (
	secretNames = []string{
		"apikey", "apisecret", "secretkey", "accesskey", "accesskeyid", "accesskeysecret", "secretaccesskey", "token",
		"secret", "privatekey", "signingkey", "encryptionkey", "credential", "credentials", "密钥", "令牌",
	}
	passwordNames = []string{"password", "passwd", "passphrase", "pwd", "密码", "口令"}
)

const (
	longestName      = 48
	shortestSecret   = 16
	shortestPassword = 8
	longestValue     = 512
	judged           = 128 // bytes of a longer value, by which it is told from words
)

// assigned finds a secret value after a name and the colon or equals sign at i; the value follows at from.
func (s *scanner) assigned(i, from int) span {
	text, name := s.text, i
	for name > 0 && strings.IndexByte(" \t\"'`\\]", text[name-1]) >= 0 && i-name < 6 {
		name--
	}
	if name == 0 || !endsName[text[name-1]] {
		return span{}
	}
	start := from
	for start < len(text) && start-from < 6 && strings.IndexByte(" \t\"'`\\>=", text[start]) >= 0 {
		start++
	}
	if s.end(start, min(len(text), start+shortestPassword), isValue) < start+shortestPassword {
		return span{}
	}
	isSecret, isPassword := named(text[max(0, name-longestName):name])
	if !isSecret && !isPassword {
		return span{}
	}
	end := s.end(start, min(len(text), start+longestValue), isValue)
	if amp := strings.IndexByte(text[start:end], '&'); amp >= 0 && inQuery(text[:name]) { // the next parameter
		end = start + amp
	}
	for end > start && strings.IndexByte(".:", text[end-1]) >= 0 {
		end--
	}
	value := text[start:min(end, start+judged)]
	s.spend(len(value))
	if end < len(text) && strings.IndexByte("([{", text[end]) >= 0 || placeholder(value) || isJWT(value) {
		return span{}
	}
	if isSecret && len(value) >= shortestSecret && looksRandom(value) ||
		isPassword && len(value) >= shortestPassword && looksLikePassword(value) {
		return span{start, end, APIKey}
	}
	return span{}
}

// inQuery tells whether what stands before is part of a URL's query or of a form.
func inQuery(before string) bool {
	before = before[max(0, len(before)-longestName):]
	return strings.ContainsAny(before[strings.LastIndexAny(before, " \t\n\"'")+1:], "?&")
}

// endsName has the last bytes of all names.
var endsName = func() (ends [256]bool) {
	for _, name := range slices.Concat(secretNames, passwordNames) {
		last := name[len(name)-1]
		ends[last] = true
		if isLower(last) {
			ends[last-'a'+'A'] = true
		}
	}
	return ends
}()

// named tells what a value is that stands after such words.
func named(before string) (secret, password bool) {
	var room [24]byte
	name := room[:0]
	for i := len(before) - 1; i >= 0 && len(name) < 20; i-- {
		switch c := before[i]; {
		case isUpper(c):
			name = append(name, c|0x20)
		case isLower(c), isDigit(c), c >= 0x80:
			name = append(name, c)
		case c != '_' && c != '-' && c != '.' && c != ' ':
			i = 0
		}
	}
	slices.Reverse(name)
	return endsWith(name, secretNames), endsWith(name, passwordNames)
}

func endsWith(name []byte, words []string) bool {
	for _, word := range words {
		if len(name) >= len(word) && string(name[len(name)-len(word):]) == word {
			return true
		}
	}
	return false
}

func isValue(c byte) bool { return valueBytes[c] }

var valueBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = isWord(byte(c)) || strings.IndexByte("-+/=.~!@#$%^&*?:", byte(c)) >= 0
	}
	return is
}()

// placeholder tells values that stand for another, such as $TOKEN, %s and your-api-key.
func placeholder(value string) bool {
	if value == "" || strings.IndexByte("$%*&/.", value[0]) >= 0 {
		return true
	}
	lower := strings.ToLower(value)
	return slices.ContainsFunc([]string{"your", "example", "xxxx", "****", "placeholder", "changeme", "redacted", "process.env", "os.environ", "env."},
		func(word string) bool { return strings.Contains(lower, word) })
}

// looksRandom tells keys from words: letters and digits mixed, and no letter much more frequent than others.
func looksRandom(value string) bool {
	const leastEntropy = 3.0
	digits, letters := 0, 0
	for i := range len(value) {
		switch {
		case isDigit(value[i]):
			digits++
		case isUpper(value[i]), isLower(value[i]):
			letters++
		}
	}
	return digits >= 2 && letters >= 2 && entropy(value) >= leastEntropy && !consistsOfWords(value)
}

// looksLikePassword tells passwords from what one writes about them.
func looksLikePassword(value string) bool {
	const leastEntropy = 2.5
	kinds := 0
	for _, is := range []func(byte) bool{isUpper, isLower, isDigit, func(c byte) bool { return !isWord(c) && c != '-' && c != '.' && c != '/' }} {
		for i := range len(value) {
			if is(value[i]) {
				kinds++
				break
			}
		}
	}
	return kinds >= 2 && strings.ContainsFunc(value, func(r rune) bool { return r < '@' && r != '.' && r != '-' && r != '/' }) &&
		entropy(value) >= leastEntropy && (!strings.ContainsAny(value, "-_./") || !consistsOfWords(value))
}

// consistsOfWords tells names such as retry-after-429 and config.v2.access_token.
func consistsOfWords(value string) bool {
	const longestWord, mostDigits = 16, 4
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-_./:+=", r) }) {
		letters := strings.TrimRight(part, "0123456789")
		if len(letters) == 0 && len(part) <= mostDigits {
			continue
		}
		if letters == "" || len(letters) > longestWord || len(part)-len(letters) > mostDigits ||
			strings.ContainsFunc(letters[1:], func(r rune) bool { return r < 'a' || r > 'z' }) {
			return false
		}
	}
	return true
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
