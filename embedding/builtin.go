package embedding

import (
	"context"
	"math"

	"github.com/annals-kb/annals/text"
)

// Builtin is the embedder that needs no model and no network. It knows no more than words, their letters, and a small
// thesaurus, so it finds misspelt, inflected and related words rather than meaning; words should outweigh it.
//
// The same text gives the same vector on every machine. The zero value is ready, and safe for concurrent use.
type Builtin struct{}

var _ Embedder = Builtin{}

// Name returns "builtin-1". It changes with anything that changes a vector: the terms, the thesaurus, a weight.
func (Builtin) Name() string { return "builtin-1" }

// Dims returns 1024.
func (Builtin) Dims() int { return builtinDims }

// Calibration was measured on questions with known answers: at the midpoint an answer is as likely as for a text that has
// half the question's words.
func (Builtin) Calibration() Calibration {
	return Calibration{Midpoint: 0.28, Slope: 12, Weight: 0.3, MinScore: 0.08}
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

func builtinVector(s string, kind Kind) []float32 {
	f := features{words: thesaurus(), kind: kind}
	bag := text.DocumentTermsOf(s)
	for i, term := range bag.Terms {
		f.term(term, bag.Counts[i])
	}
	f.fill()
	v := make([]float32, builtinDims)
	for i, x := range f.vector {
		v[i] = float32(x)
	}
	if Normalize(v) != nil {
		v[nothing] = 1 // in common with no text that says something
		if kind == Query {
			v[nothing] = -1 // nor with one that says nothing: it is no answer
		}
	}
	return v
}

const (
	fullNorm  = 6.5 // the norm of the features of some fifty words
	normShare = 0.3 // how much a text's own norm counts below that
)

// fill keeps a short document from being nearer to a question than a longer one just for being short. A cosine divides
// by the document's norm, which punishes every word that the question does not have, and rewards an empty remark that
// shares one. So a document's norm counts as if it were longer (Singhal, Buckley and Mitra, "Pivoted document length
// normalization", 1996), and the difference lies in dimensions where no question has anything. They hold a projection of
// the other dimensions, so that two documents are as near as their words.
func (f *features) fill() {
	if f.kind != Document {
		return
	}
	sum := 0.0
	for _, x := range f.vector {
		sum += x * x
	}
	wanted := (1-normShare)*fullNorm + normShare*math.Sqrt(sum)
	if sum == 0 || wanted*wanted <= sum {
		return
	}
	slack := f.vector[wordDims+headDims:]
	random := splitMix(slackDims)
	for i, x := range f.vector[:wordDims] {
		if random.next()>>63 == 1 {
			x = -x
		}
		slack[i%slackDims] += x
	}
	length := 0.0
	for _, x := range slack {
		length += x * x
	}
	if length == 0 {
		return
	}
	scale := math.Sqrt((wanted*wanted - sum) / length)
	for i := range slack {
		slack[i] *= scale
	}
}
