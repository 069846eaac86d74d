package text

import "strings"

// blocks cuts a text behind its paragraphs and code blocks, with the empty lines that follow them. A heading stays with
// what it heads. Nothing is lost.
func blocks(s string) []string {
	return cut(s, blockEnd)
}

// blockEnd finds where the first block of s ends.
func blockEnd(s string) int {
	fence := ""
	begun, empty, heading := false, false, false
	for i := 0; i < len(s); {
		end := lineEnd(s, i)
		line := strings.TrimSpace(s[i:end])
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
				empty = true // what follows the fence is another block
			}
		case line == "":
			empty = begun && !heading
		case empty, begun && !heading && (isHeading(line) || fenceOf(line) != ""):
			return i
		default:
			begun = true
			heading = isHeading(line)
			fence = fenceOf(line)
		}
		i = end
	}
	return len(s)
}

// fenceOf returns the marks that open a code block, if the line does.
func fenceOf(line string) string {
	for _, fence := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(line, fence) {
			return fence
		}
	}
	return ""
}

// isCode tells whether a block is fenced.
func isCode(block string) bool { return fenceOf(strings.TrimSpace(block)) != "" }

// lineEnd finds the beginning of the line behind the one at i.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s)
}
