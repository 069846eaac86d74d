package scrub

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/text"
)

var (
	pemBegins = text.Expression(`^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	pemEnds   = text.Expression(`-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	pemHeader = []string{"Proc-Type: ", "DEK-Info: ", "Comment: ", "Version: "}
)

const (
	longestPEM     = 32 << 10
	longestPEMLine = 128 // the first and the last
)

// pem finds a private key whose first or last line is at i. One that was cut off ends with its last line that
// can be part of it; of one that lost its beginning, that is where it begins.
func (s *scanner) pem(i int) span {
	if s.off[PrivateKey] || !strings.HasPrefix(s.text[i:], "-----") {
		return span{}
	}
	line := s.text[i:min(len(s.text), i+longestPEMLine)]
	switch {
	case strings.HasPrefix(line, "-----BEGIN "):
		s.spend(len(line))
		if begin := pemBegins().FindStringIndex(line); begin != nil {
			if ending := s.nextPEMEnding(i); ending != nil && ending[1]-i <= longestPEM {
				return span{i, ending[1], PrivateKey}
			}
			from := i + begin[1]
			length, read := pemLines(s.text[from:min(len(s.text), i+longestPEM)])
			s.spend(read)
			return span{i, from + length, PrivateKey}
		}
	case strings.HasPrefix(line, "-----END "):
		s.spend(len(line))
		if end := pemEnds().FindStringIndex(line); end != nil && end[0] == 0 {
			start := pemStart(s.text[s.from:i])
			s.spend(i - s.from)
			return span{s.from + start, i + end[1], PrivateKey}
		}
	}
	return span{}
}

// nextPEMEnding is where the next last line of a private key is; nil if there is none.
func (s *scanner) nextPEMEnding(i int) []int {
	if s.pemFrom >= 0 && (s.pemEnding == nil || s.pemEnding[0] >= i) {
		return s.pemEnding
	}
	s.pemFrom, s.pemEnding = i, pemEnds().FindStringIndex(s.text[i:])
	if s.pemEnding == nil {
		s.spend(len(s.text) - i)
		return nil
	}
	s.spend(s.pemEnding[1])
	s.pemEnding[0] += i
	s.pemEnding[1] += i
	return s.pemEnding
}

// pemLines is the length of what can be lines of a key, and how far was read. Lines end in line breaks, or in \n where the
// key is part of a program.
func pemLines(text string) (length, read int) {
	for read < len(text) {
		isHeader := slices.ContainsFunc(pemHeader, func(begin string) bool {
			return strings.HasPrefix(strings.TrimLeft(text[read:min(len(text), read+longestPEMLine)], aroundPEM), begin)
		})
		end := read
		for end < len(text) && lineBreak(text, end) == 0 && (isHeader || inPEM[text[end]]) {
			end++
		}
		bare := strings.Trim(text[read:end], aroundPEM)
		if end < len(text) && lineBreak(text, end) == 0 || bare != "" && !isHeader && !isPEMLine(bare) {
			return length, end
		}
		if bare != "" {
			length = read + strings.Index(text[read:end], bare) + len(bare)
		}
		read = end
		if end < len(text) {
			read += lineBreak(text, end)
		}
	}
	return length, read
}

// pemStart is where the lines begin that a text ends with and that can be lines of a key.
func pemStart(text string) int {
	start := len(text)
	for start > 0 && len(text)-start < longestPEM {
		end := start
		switch {
		case text[start-1] == '\n':
			end--
		case strings.HasSuffix(text[:start], `\n`):
			end -= 2
		default:
			return start
		}
		begin := end
		for begin > 0 && inPEM[text[begin-1]] && text[begin-1] != '\n' && !strings.HasSuffix(text[:begin], `\n`) {
			begin--
		}
		bare := strings.Trim(text[begin:end], aroundPEM)
		if !isPEMLine(bare) || begin > 0 && text[begin-1] != '\n' && !strings.HasSuffix(text[:begin], `\n`) {
			return start
		}
		start = begin + strings.Index(text[begin:end], bare)
	}
	return start
}

// aroundPEM is what stands around a line of a key that is quoted, or part of a program.
const aroundPEM = " \t\r\"'+,;>|"

// inPEM has the bytes of lines of a key, with what stands around them.
var inPEM = func() (is [256]bool) {
	for c := range is {
		is[c] = isPadded(byte(c)) || strings.IndexByte(aroundPEM, byte(c)) >= 0
	}
	return is
}()

// lineBreak is the length of the line break at i, 0 if there is none.
func lineBreak(text string, i int) int {
	switch {
	case text[i] == '\n':
		return 1
	case strings.HasPrefix(text[i:], `\n`):
		return 2
	}
	return 0
}

// isPEMLine tells base64 from a word: it is long, or has more than lower-case letters.
func isPEMLine(line string) bool {
	const surely = 32
	for i := range len(line) {
		if !isPadded(line[i]) {
			return false
		}
	}
	return len(line) >= surely || len(line) >= 2 && (strings.HasSuffix(line, "=") || strings.ContainsAny(line, "0123456789+/") && strings.ToLower(line) != line)
}
