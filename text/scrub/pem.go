package scrub

import (
	"regexp"
	"strings"
)

var (
	pemBegins = regexp.MustCompile(`^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	pemEnds   = regexp.MustCompile(`-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	pemHeader = regexp.MustCompile(`^(?:Proc-Type|DEK-Info|Comment|Version): `)
)

const longestPEM = 32 << 10

// pem finds a private key whose first or last line is at i. One that was cut off ends with its last line that
// can be part of it; of one that lost its beginning, that is where it begins.
func pem(text string, i int) span {
	if !strings.HasPrefix(text[i:], "-----") {
		return span{}
	}
	rest := text[i:min(len(text), i+longestPEM)]
	if begin := pemBegins.FindStringIndex(rest); begin != nil {
		end := i + begin[1]
		if ending := pemEnds.FindStringIndex(rest); ending != nil {
			return span{i, i + ending[1], PrivateKey}
		}
		return span{i, end + pemLines(rest[begin[1]:]), PrivateKey}
	}
	if end := pemEnds.FindStringIndex(rest); end != nil && end[0] == 0 {
		return span{pemStart(text, i), i + end[1], PrivateKey}
	}
	return span{}
}

// pemLines is the length of what can be lines of a key. Lines end in line breaks, or in \n where the
// key is part of a program.
func pemLines(text string) int {
	length := 0
	for rest := text; rest != ""; {
		line, after := cutLine(rest)
		bare := strings.Trim(line, " \t\r\"'+,;>|")
		if bare != "" && !isPEMLine(bare) && !pemHeader.MatchString(bare) {
			break
		}
		if bare != "" {
			length = len(text) - len(rest) + strings.Index(line, bare) + len(bare)
		}
		rest = after
	}
	return length
}

// pemStart goes back from the last line of a key over lines of it.
func pemStart(text string, end int) int {
	start := end
	for start > 0 && end-start < longestPEM {
		before := strings.TrimSuffix(strings.TrimSuffix(text[:start], "\n"), `\n`)
		if before == text[:start] {
			break
		}
		begin := max(strings.LastIndexByte(before, '\n')+1, strings.LastIndex(before, `\n`)+2)
		if begin == 1 { // neither was found
			begin = 0
		}
		bare := strings.Trim(before[begin:], " \t\r\"'+,;>|")
		if !isPEMLine(bare) {
			break
		}
		start = begin + strings.Index(before[begin:], bare)
	}
	return start
}

func cutLine(text string) (line, rest string) {
	plain, escaped := strings.IndexByte(text, '\n'), strings.Index(text, `\n`)
	switch {
	case plain >= 0 && (escaped < 0 || plain < escaped):
		return text[:plain], text[plain+1:]
	case escaped >= 0:
		return text[:escaped], text[escaped+2:]
	}
	return text, ""
}

// isPEMLine tells base64 from a word: it is long, or has more than lower-case letters.
func isPEMLine(line string) bool {
	const surely = 32
	for i := range len(line) {
		if c := line[i]; !isUpper(c) && !isLower(c) && !isDigit(c) && c != '+' && c != '/' && c != '=' {
			return false
		}
	}
	return len(line) >= surely || len(line) >= 2 && (strings.HasSuffix(line, "=") || strings.ContainsAny(line, "0123456789+/") && strings.ToLower(line) != line)
}
