package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Op is the kind of an edit.
type Op string

// The kinds of edits.
const (
	Same    Op = "same"
	Removed Op = "removed"
	Added   Op = "added"
)

// Edit is a part of a text that was kept, removed or added.
type Edit struct {
	Op   Op
	Text string
}

// Diff lists the edits from before to after, word by word; in scripts without spaces character by character. Equal
// and removed parts make up before; equal and added parts make up after. Two changes without a word in between are
// joined for readability.
func Diff(before, after string) []Edit {
	a, b := diffTokens(before), diffTokens(after)
	head := 0 // a change with several possible beginnings takes the last
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	var changes []lcs.Diff
	for _, change := range lcs.DiffLines(a[head:], b[head:]) {
		change.Start, change.End = change.Start+head, change.End+head
		change.ReplStart, change.ReplEnd = change.ReplStart+head, change.ReplEnd+head
		if last := len(changes) - 1; last >= 0 && !slices.ContainsFunc(a[changes[last].End:change.Start], isWord) {
			changes[last].End, changes[last].ReplEnd = change.End, change.ReplEnd
			continue
		}
		changes = append(changes, change)
	}
	var edits []Edit
	add := func(op Op, tokens []string) {
		if len(tokens) > 0 {
			edits = append(edits, Edit{op, strings.Join(tokens, "")})
		}
	}
	same := 0
	for _, change := range changes {
		add(Same, a[same:change.Start])
		add(Removed, a[change.Start:change.End])
		add(Added, b[change.ReplStart:change.ReplEnd])
		same = change.End
	}
	add(Same, a[same:])
	return edits
}

// diffTokens splits a text into words, characters of scripts without spaces, and what is between them.
func diffTokens(s string) []string {
	var tokens []string
	for i := 0; i < len(s); {
		kind, size := classAt(s, i)
		end := i + size
		switch kind {
		case classWord:
			for end < len(s) {
				next, size := classAt(s, end)
				if next != classWord {
					break
				}
				end += size
			}
		case classSpace:
			if blank(s[i]) {
				for end < len(s) && blank(s[end]) {
					end++
				}
			}
		}
		tokens = append(tokens, s[i:end])
		i = end
	}
	return tokens
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func isWord(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return classOf(r) != classSpace
}
