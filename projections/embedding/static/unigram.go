package static

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Unigram cuts a text into its most probable tokens (Kudo, "Subword Regularization", 2018). It is safe for concurrent
// use.
type Unigram struct {
	ids      map[string]int
	scores   []float64
	unknown  float64
	replaces func(score, best float64) bool
	longest  int // bytes of a token
}

// NewUnigram returns a tokenizer of a vocabulary: the numbers of its tokens, and by number the logarithms of their
// probabilities. unknown is the score of a character that is no token. replaces tells whether a way to a place in the
// text is better than the best one so far, whose last token begins earlier.
func NewUnigram(
	ids map[string]int, scores []float64, unknown float64, replaces func(score, best float64) bool,
) *Unigram {
	u := &Unigram{ids: ids, scores: scores, unknown: unknown, replaces: replaces}
	for token := range ids {
		u.longest = max(u.longest, len(token))
	}
	return u
}

// Cut returns the numbers of a text's tokens, and -1 for each unknown character (Viterbi's algorithm).
func (u *Unigram) Cut(text string) (tokens []int) {
	type path struct {
		score float64
		from  int
		token int
	}
	best := make([]path, len(text)+1)
	for i := range best[1:] {
		best[i+1].score = math.Inf(-1)
	}
	for from := 0; from < len(text); {
		_, character := utf8.DecodeRuneInString(text[from:])
		reach := func(to, token int, score float64) {
			if score += best[from].score; u.replaces(score, best[to].score) {
				best[to] = path{score, from, token}
			}
		}
		if _, known := u.ids[text[from:from+character]]; !known {
			reach(from+character, -1, u.unknown)
		}
		for to := from + character; to <= min(len(text), from+u.longest); to++ {
			if id, known := u.ids[text[from:to]]; known {
				reach(to, id, u.scores[id])
			}
		}
		from += character
	}
	for at := len(text); at > 0; at = best[at].from {
		tokens = append(tokens, best[at].token)
	}
	slices.Reverse(tokens)
	return tokens
}
