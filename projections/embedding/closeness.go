package embedding

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/embedding/lexicon"
)

// Question compares texts with a question word by word. It is for one goroutine.
type Question struct {
	words []questionWord
	total float64              // of the weights
	known map[string][]float64 // how similar a word of a text is to each of the question
}

// questionWord is a word of a question.
type questionWord struct {
	word
	*meaning
	weight float64
	absent bool // no item has it: it may be misspelt
}

// NewQuestion prepares a question. rarity is the inverse document frequency of a term, and whether any item has it.
func NewQuestion(s string, rarity func(term string) (idf float64, found bool)) *Question {
	q := &Question{known: map[string][]float64{}}
	seen := map[string]bool{}
	for w := range wordsOf(text.Compose(s)) {
		a := questionWord{word: w, meaning: w.lookUp(), weight: 1}
		if seen[w.text] || !a.hasContent || w.pair && utf8.RuneCountInString(w.text) == 1 {
			continue
		}
		seen[w.text] = true
		idf, found := rarity(a.term)
		a.absent = !found
		if a.known {
			a.weight = float64(a.meaning.entry.Weight())
		}
		if a.han && utf8.RuneCountInString(a.text) == 1 {
			a.weight *= oneCharacter
		}
		a.weight *= idf
		q.total += a.weight
		q.words = append(q.words, a)
	}
	return q
}

// longQuestion is how many words a question has that one item may answer as a whole.
const longQuestion = 6

// IsLong tells whether this is rather the description of a task, of which an item covers only a part.
func (q *Question) IsLong() bool { return len(q.words) > longQuestion }

// leastSimilar is the cosine of two words up to which they count as unrelated.
const leastSimilar = 0.4

// passageWords is half the length of a passage: two runs of so many words that follow one another.
const passageWords = 30

// Closeness is how much of the question the best passage of a text covers, 0…1: the relaxed word mover's similarity
// (Kusner et al., "From Word Embeddings to Document Distances", 2015). Each word of the question counts by its weight
// and by the most similar word of the passage. As a whole, a long text has a similar word for nearly every word.
func (q *Question) Closeness(s string) float64 {
	if q.total == 0 {
		return 0
	}
	best, count := 0.0, 0
	before, run := make([]float64, len(q.words)), make([]float64, len(q.words))
	for w := range wordsOf(text.Compose(s)) {
		if count == passageWords {
			best = max(best, q.covered(before, run))
			before, run, count = run, before, 0
			clear(run)
		}
		count++
		similar, known := q.known[w.text]
		if !known {
			similar = q.similar(w)
			q.known[w.text] = similar
		}
		for i, x := range similar {
			run[i] = max(run[i], x)
		}
	}
	return max(best, q.covered(before, run))
}

// covered is how much of the question two runs of words cover. They have the most similar word for each of its words.
func (q *Question) covered(before, run []float64) float64 {
	sum, least := 0.0, 0.0
	for i, x := range run {
		x = max(x, before[i])
		if x >= otherMarks && !q.words[i].known && !q.words[i].digit && len(q.words[i].text) >= shortestName {
			least = namedCoverage
		}
		if x > leastSimilar {
			sum += q.words[i].weight * (min(x, 1) - leastSimilar) / (1 - leastSimilar)
		}
	}
	return max(sum/q.total, least)
}

// An item with a word of the question that no dictionary has, such as the name of a tool, is about that.
const (
	shortestName  = 4
	namedCoverage = 0.4
)

// oneCharacter is how much a single Han character says, as a share of a longer word.
const oneCharacter = 0.4

// Similarities of words that are not the same.
const (
	otherMarks = 0.9 // the same letters, but only one has marks: Zürich and Zurich
	synonymous = 0.7
	perEdit    = 0.2 // less for each edit between a misspelt word and another one
)

// similar compares a word with each of the question. It is nil if none is similar.
func (q *Question) similar(w word) []float64 {
	m := w.lookUp()
	if !m.hasContent {
		return nil
	}
	var all []float64
	for i := range q.words {
		a := &q.words[i]
		similar := 0.0
		switch {
		case a.term == m.term && a.isPlain != m.isPlain:
			similar = otherMarks
		case a.text == w.text || a.term == m.term:
			similar = 1
		case slices.ContainsFunc(a.groups, func(group int) bool { return slices.Contains(m.groups, group) }):
			similar = synonymous
		}
		if similar < otherMarks && a.known && m.known {
			similar = max(similar, Cosine(a.vector[:], m.vector[:]))
		}
		if a.absent && !a.digit {
			similar = max(similar, spelling(a.folded, m.folded))
		}
		if similar > leastSimilar {
			if all == nil {
				all = make([]float64, len(q.words))
			}
			all[i] = similar
		}
	}
	return all
}

// spelling is how probably two words are the same, one of them misspelt: 0 beyond one edit, or two in a long word.
func spelling(a, b string) float64 {
	const short, long = 4, 7
	length := max(len(a), len(b))
	if min(len(a), len(b)) < short || a[0] >= utf8.RuneSelf || b[0] >= utf8.RuneSelf {
		return 0
	}
	edits := 1
	if length >= long {
		edits = 2
	}
	return max(0, 1-perEdit*float64(distance(a, b, edits)))
}

// distance is how many letters were added, left out, replaced or exchanged with their neighbour (the optimal string
// alignment distance), and a large number if that is more than most.
func distance(a, b string, most int) int {
	const far, longest = 100, 40
	if len(a)-len(b) > most || len(b)-len(a) > most || max(len(a), len(b)) > longest {
		return far
	}
	var rows [3][longest + 1]int // of the letter before, of this one, and of the next
	for j := range len(b) + 1 {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := &rows[(i+2)%3], &rows[i%3], &rows[(i+1)%3]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return far
		}
	}
	if edits := rows[(len(a)+1)%3][len(b)]; edits <= most {
		return edits
	}
	return far
}

// word is a word of a text in lower case.
type word struct {
	text  string
	digit bool         // it is a number, or a part of a code
	han   bool         // it is of Han characters
	pair  bool         // it is a pair of characters of another script without spaces
	entry lexicon.Word // of such a word, which is in the lexicon
}

// find looks the word up in the lexicon.
func (w word) find() (entry lexicon.Word, known bool) {
	if w.han {
		return w.entry, true
	}
	return lexicon.Find(w.text)
}

// meaning is what the tables have of a word.
type meaning struct {
	hasContent bool   // it says what a text is about
	folded     string // without marks
	isPlain    bool   // it has no marks
	term       string // of the index
	groups     []int  // of synonyms
	known      bool   // to the lexicon
	entry      lexicon.Word
	vector     [lexicon.Dims]float32
}

// maxMeanings bounds how many words are kept, of half a kilobyte each.
const maxMeanings = 4096

// meanings are those of words that searches have met. Without them, looking words up takes most of a comparison.
var meanings = sync.Pool{New: func() any { return map[string]*meaning{} }}

func (w word) lookUp() *meaning {
	seen := meanings.Get().(map[string]*meaning)
	defer meanings.Put(seen)
	m := seen[w.text]
	if m != nil {
		return m
	}
	w.text = strings.Clone(w.text) // keep no text of an item
	m = &meaning{hasContent: text.HasContent([]text.QueryTerm{{Term: w.text}}), folded: text.Fold(w.text)}
	m.isPlain, m.term = m.folded == w.text, text.TermOf(m.folded)
	m.groups = synonyms()[m.term]
	m.entry, m.known = w.find()
	if !m.known && !w.han {
		m.entry, m.known = lexicon.Find(m.folded)
	}
	if m.known {
		m.entry.Vector(&m.vector)
	}
	if len(seen) >= maxMeanings {
		clear(seen)
	}
	seen[w.text] = m
	return m
}

// wordsOf cuts a text into its words: runs of letters, the parts of names such as getUserByID, Chinese words, runs of
// digits, and pairs of characters of other scripts without spaces.
func wordsOf(s string) iter.Seq[word] {
	return func(yield func(word) bool) {
		for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			for run != "" {
				var ok bool
				if run, ok = firstWord(run, yield); !ok {
					return
				}
			}
		}
	}
}

// firstWord yields the first word of a run of letters and digits, or the words or pairs that its first characters
// without spaces make. It returns the rest.
func firstWord(run string, yield func(word) bool) (rest string, more bool) {
	end := len(run)
	var last rune
	for i, r := range run {
		if i > 0 && (unicode.Is(unicode.Han, r) != unicode.Is(unicode.Han, last) ||
			unicode.IsDigit(r) != unicode.IsDigit(last) ||
			text.IsPaired(r) != text.IsPaired(last) || unicode.IsUpper(r) && unicode.IsLower(last)) {
			end = i
			break
		}
		last = r
	}
	if unicode.Is(unicode.Han, last) {
		for entry := range lexicon.Han(run[:end]) {
			if !yield(word{text: entry.String(), han: true, entry: entry}) {
				return "", false
			}
		}
		return run[end:], true
	}
	if text.IsPaired(last) {
		previous := 0
		for i, r := range run[:end] {
			next := i + utf8.RuneLen(r)
			if (i > 0 || next == end) && !yield(word{text: run[previous:next], pair: true}) {
				return "", false
			}
			previous = i
		}
		return run[end:], true
	}
	return run[end:], yield(word{text: strings.ToLower(run[:end]), digit: unicode.IsDigit(last)})
}
