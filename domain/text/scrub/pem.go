package scrub

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

var (
	// The first and the last line of a private key.
	pemBoundary = text.Expression(`-----(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	pemHeader   = text.Expression(`^(?:Proc-Type|DEK-Info|Comment|Version): `)
	lineBreak   = text.Expression(`\n|\\n`) // \n where the key is part of a program
	base64Line  = text.Expression(`^[A-Za-z0-9+/=]{2,}$`)
)

// privateKeys finds private keys. A key without its last line ends with the last line that can belong to it; a key
// without its first line begins likewise.
func (w *scrubbing) privateKeys(text string) (spans []span) {
	const longest = 32 << 10
	if w.off[PrivateKey] || !strings.Contains(text, "PRIVATE KEY") || !w.spend(len(text)) {
		return nil
	}
	boundaries := pemBoundary().FindAllStringIndex(text, -1)
	isEnd := func(n int) bool { return strings.HasPrefix(text[boundaries[n][0]:], "-----END") }
	from, end := 0, 0 // the end of the last key, and the next last line
	for n, at := range boundaries {
		start := at[0]
		if start < from {
			continue
		}
		end = max(end, n)
		for end < len(boundaries) && !isEnd(end) {
			end++
		}
		switch {
		case end == n:
			start -= trailingLines(text[max(from, start-longest):start])
			from = at[1]
		case end < len(boundaries) && boundaries[end][1]-start <= longest:
			from = boundaries[end][1]
		default:
			limit := min(len(text), start+longest)
			if n+1 < len(boundaries) {
				limit = min(limit, boundaries[n+1][0])
			}
			from = at[1] + leadingLines(text[at[1]:limit])
		}
		spans = append(spans, span{start, from, PrivateKey})
	}
	return spans
}

// leadingLines is the length of the key lines at the beginning of a text.
func leadingLines(text string) (length int) {
	for _, line := range linesOf(text) {
		content := text[line.start:line.end]
		if content != "" && !isPEMLine(content) && !pemHeader().MatchString(content) {
			break
		}
		length = line.end
	}
	return length
}

// trailingLines is the length of the key lines at the end of a text.
func trailingLines(text string) (length int) {
	for _, line := range slices.Backward(linesOf(text)) {
		content := text[line.start:line.end]
		if content != "" && !isPEMLine(content) {
			break
		}
		length = len(text) - line.start
	}
	return length
}

// linesOf lists the lines of a text, without the characters around them in a quotation or a program.
func linesOf(text string) (lines []span) {
	const around = " \t\r\"'+,;>|"
	start := 0
	for _, end := range append(lineBreak().FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		left := strings.TrimLeft(text[start:end[0]], around)
		lines = append(lines, span{start: end[0] - len(left), end: end[0] - len(left) + len(strings.TrimRight(left, around))})
		start = end[1]
	}
	return lines
}

// isPEMLine tells base64 from words: it is long, or has more than lower-case letters.
func isPEMLine(line string) bool {
	const surely = 32
	return base64Line().MatchString(line) && (len(line) >= surely || strings.HasSuffix(line, "=") ||
		strings.ContainsAny(line, digits+"+/") && strings.ToLower(line) != line)
}
