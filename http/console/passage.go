package console

import (
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
)

// An answer shows a passage of a long text: so many characters, of which some stand before the first mark.
const (
	mostShown  = 280
	mostBefore = 60
)

// answering is the passage of a text that answers a question best, with marks at the words of the question. It begins
// with the sentence that has most of them.
func answering(content, question string) []api.FieldChange {
	begin, most := 0, 0
	if utf8.RuneCountInString(content) > mostShown {
		at, terms := 0, text.Query(question)
		for _, sentence := range text.Sentences(content) {
			at += strings.Index(content[at:], sentence)
			if n := wordsIn(sentence, terms); n > most {
				begin, most = at, n
			}
			at += len(sentence)
		}
	}
	shown := []rune(content[begin:])
	var parts []api.FieldChange
	for _, part := range text.Find(string(shown[:min(len(shown), 16*mostShown)]), question) {
		parts = append(parts, api.FieldChange{Op: string(part.Op), Text: part.Text})
	}
	return around(parts, begin > 0)
}

// wordsIn is how many terms of a question a sentence has.
func wordsIn(sentence string, terms []text.QueryTerm) (n int) {
	counts, _ := text.TermCounts(sentence)
	for _, term := range terms {
		if counts[term.Term] > 0 {
			n++
		}
	}
	return n
}

// differing is the passage of another text that says something else than this one, with marks at what differs.
func differing(this, other string) []api.FieldChange {
	_, parts := sides(this, other)
	return around(parts, false)
}

// around keeps the parts of a text that stand around the first mark. An ellipsis stands for what it leaves out.
func around(parts []api.FieldChange, begun bool) (kept []api.FieldChange) {
	left := mostShown
	for i, part := range parts {
		characters := []rune(part.Text)
		if i == 0 && part.Op == string(text.Same) && len(parts) > 1 && len(characters) > 2*mostBefore {
			characters, begun = characters[len(characters)-mostBefore:], true
		}
		if i == 0 && begun {
			characters = append([]rune("…"), characters...)
		}
		if len(characters) > left {
			cut := string(characters[:left])
			if word := strings.LastIndexByte(cut, ' '); word > 0 {
				cut = cut[:word+1]
			}
			return append(kept, api.FieldChange{Op: part.Op, Text: cut + "…"})
		}
		left -= len(characters)
		kept = append(kept, api.FieldChange{Op: part.Op, Text: string(characters)})
	}
	return kept
}
