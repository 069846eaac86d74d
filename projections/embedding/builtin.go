package embedding

import (
	"context"
	"math"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/embedding/lexicon"
)

// Builtin is the embedder that needs no model and no network. It knows the meaning of single words, in English and
// Chinese, and their letters, but not of sentences. [Question] compares words with words where that is worth it.
//
// The same text gives the same vector on every machine. The zero value is ready, and safe for concurrent use.
type Builtin struct{}

var _ Embedder = Builtin{}

// Name returns "builtin-2". It must change with every change of a vector: of the lexicon or a weight.
func (Builtin) Name() string { return "builtin-2" }

// Dims returns 384.
func (Builtin) Dims() int { return builtinDims }

// Calibration was measured on questions with known answers (docs/performance.md).
func (Builtin) Calibration() Calibration {
	return Calibration{Midpoint: 0.5, Slope: 8, Weight: 0.3}
}

// Embed returns an error only if ctx has ended.
func (Builtin) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = builtinVector(s, kind)
	}
	return vectors, nil
}

// The first dimensions of a built-in vector are the mean of its words' vectors, weighted by how much they say (Arora,
// Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017). The letters of the words are
// hashed into the others, so that a misspelt word is still near.
const (
	letterDims  = 284
	builtinDims = lexicon.Dims + letterDims
	nothing     = builtinDims - 1 // the dimension of texts without words

	letterShare = 0.5 // of the length of the first dimensions
)

func builtinVector(s string, kind Kind) []float32 {
	v := make([]float32, builtinDims)
	meaning, letters := v[:lexicon.Dims], v[lexicon.Dims:]
	var row [lexicon.Dims]float32
	for w := range wordsOf(s) {
		if w.digit || text.IsStopWord(w.text) {
			continue
		}
		addLetters(letters, w.text)
		if entry, known := w.find(); known {
			entry.Vector(&row)
			weight := entry.Weight()
			for i, x := range row {
				meaning[i] += weight * x
			}
		}
	}
	_ = Normalize(meaning) // of a text without known words, they stay zero
	if Normalize(letters) == nil {
		for i := range letters {
			letters[i] *= letterShare
		}
	}
	if Normalize(v) != nil {
		v[nothing] = 1
		if kind == Query {
			v[nothing] = -1 // opposite to an empty document, which is no answer
		}
	}
	return v
}

// addLetters adds the trigrams of a word, each in the dimension and with the sign of its hash (Weinberger et al.,
// "Feature hashing", 2009).
func addLetters(v []float32, word string) {
	if word[0] >= utf8.RuneSelf || len(word) < 3 {
		return
	}
	padded := "^" + word + "$"
	weight := float32(1 / math.Sqrt(float64(len(word))))
	for i := range len(word) {
		hash := hashOf(padded[i : i+3])
		if hash>>63 == 1 {
			v[hash%letterDims] -= weight
		} else {
			v[hash%letterDims] += weight
		}
	}
}

// hashOf is FNV-1a, mixed.
func hashOf(name string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := uint64(offset)
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * prime
	}
	random := splitMix(hash)
	return random.next()
}
