package compare

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
)

// kind is the role of a token in a comparison.
type kind string

const (
	stop      kind = "stop"   // carries no meaning
	word      kind = "word"   // of a group of words with one meaning
	not       kind = "not"    // turns the statement round
	except    kind = "except" // takes a negation back
	role      kind = "role"   // of what follows
	mark      kind = "mark"   // to be the same in both items
	who       kind = "who"    // the person of a pronoun
	boundary  kind = "boundary"
	plus      kind = "plus"    // one of two opposites
	minus     kind = "minus"   // the other one
	unit      kind = "unit"    // of the number before it
	weekday   kind = "weekday" // or how often in general
	month     kind = "month"
	half      kind = "half"    // of the day
	ordinal   kind = "ordinal" // its number is a name
	place     kind = "place"   // what holds in one place need not hold in another
	number    kind = "number"
	date      kind = "date"
	clock     kind = "clock"
	character kind = "character" // of Han, in no phrase
	version   kind = "version"
	name      kind = "name" // of a service, a file or a person
)

// token is a word, a phrase or a value of a text.
type token struct {
	kind   kind
	name   string  // of its group; of other words, the stem
	noun   string  // the nearest word before it
	factor float64 // of a unit or of the weight of a word; of a number, its value; 0 if what comes before it is meant
}

// isSubject reports whether the token tells what the text is about.
func (t token) isSubject() bool { return t.kind == word || t.kind == name || t.kind == place }

func (t token) isOpposite() bool { return t.kind == plus || t.kind == minus }

//go:embed vocabulary.txt
var vocabularyText string

// vocabulary are the phrases of vocabulary.txt. Words of a phrase are stems, separated by spaces.
var vocabulary = sync.OnceValue(func() map[string]token {
	phrases := map[string]token{}
	for line := range strings.Lines(vocabularyText) {
		head, list, found := strings.Cut(line, ":")
		fields := strings.Fields(head)
		if !found || len(fields) < 2 || fields[0] == "#" {
			continue
		}
		t := token{kind: kind(fields[0]), name: fields[1], factor: 1}
		if len(fields) == 3 {
			t.factor, _ = strconv.ParseFloat(fields[2], 64) // a test reads every line
		}
		if t.kind == number {
			t.factor = numberOf(t.name)
		}
		for phrase := range strings.SplitSeq(strings.TrimSpace(list), ",") {
			if phrase = stemmed(strings.TrimSpace(phrase)); phrase != "" {
				if _, taken := phrases[phrase]; !taken {
					phrases[phrase] = t
				}
			}
		}
	}
	return phrases
})

// stemmed stems the English words of a phrase.
func stemmed(phrase string) string {
	words := strings.Fields(phrase)
	for i, word := range words {
		words[i] = stem(word)
	}
	return strings.Join(words, " ")
}

// unstemmed are words whose stems mean something else.
var unstemmed = []string{
	"", "named", "am", "is", "are", "was", "were", "had", "hourly", "weekly", "monthly", "quarterly", "yearly",
}

func stem(word string) string {
	if slices.Contains(unstemmed, word) || word[0] >= utf8.RuneSelf || strings.ContainsAny(word, "'-_./@%") {
		return word
	}
	return text.Stem(word)
}
