package embedding

import (
	"context"
	"math"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
)

// Builtin is the embedder that needs no model and no network. It uses words, their letters and a small thesaurus. It
// therefore finds misspelt, inflected and related words rather than meaning, and should count less than words.
//
// The same text gives the same vector on every machine. The zero value is ready, and safe for concurrent use.
type Builtin struct{}

var _ Embedder = Builtin{}

// Name returns "builtin-1". It must change with every change of a vector: of the terms, the thesaurus or a weight.
func (Builtin) Name() string { return "builtin-1" }

// Dims returns 1024.
func (Builtin) Dims() int { return builtinDims }

// Calibration was measured on questions with known answers. The midpoint is as likely for an answer as a text with
// half of the question's words.
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
		v[nothing] = 1 // shares a feature with no text that has one
		if kind == Query {
			v[nothing] = -1 // and is opposite to an empty document, which is no answer
		}
	}
	return v
}

const (
	fullNorm  = 6.5 // the norm of the features of some fifty words
	normShare = 0.3 // share of a text's own norm below that
)

// fill keeps a short document from being nearer to a question than a longer one just because it is short. A cosine
// divides by the document's norm. That penalises every word that the question lacks, and favours a short remark that
// shares one.
//
// So a document's norm counts as if it were longer (Singhal, Buckley and Mitra, "Pivoted document length
// normalization", 1996). The difference lies in dimensions that no question uses. They contain a projection of the
// other dimensions, so that the similarity of two documents follows from their words.
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

// The parts of a built-in vector. Words, their letters and their synonyms are hashed into the first part. Each head
// of the thesaurus has a dimension of its own. The last part fills up the norm of a short text (see fill).
const (
	wordDims    = 768
	headDims    = 192
	slackDims   = 64
	builtinDims = wordDims + headDims + slackDims

	nothing = wordDims + headDims - 1 // the dimension of texts without features
)

// The weights of features relative to their words, found by measuring retrieval.
const (
	lettersShare = 0.7
	synonymShare = 0.5
	headShare    = 1.3
	askShare     = 0.5 // of headShare, for a synonym of the head
	stopShare    = 0.5
)

// features collects the features of one text.
type features struct {
	vector [builtinDims]float64
	words  *relations
	kind   Kind
}

// term adds a term that occurs n times.
func (f *features) term(term string, n int) {
	if text.IsStopWord(term) {
		f.stopWord(term)
		return
	}
	weight := rarity(term) * (1 + math.Log(float64(n)))
	f.hashed(hashOf(0, term), weight)
	f.letters(term, weight*lettersShare)
	f.synonyms(term, weight)
	f.heads(term, weight*headShare)
}

// synonyms adds the groups of a term. Only some pairs of a Chinese text are words, and those count more.
func (f *features) synonyms(term string, weight float64) {
	groups := f.words.synonyms[term]
	share := synonymShare / math.Sqrt(float64(len(groups)))
	if term[0] >= utf8.RuneSelf {
		share = 1
	}
	for _, group := range groups {
		f.hashed(hashOf(1, group), weight*share)
	}
}

// stopWord adds what a question word asks for: "when" asks for a time. Other stop words add nothing.
func (f *features) stopWord(term string) {
	if head, ok := f.words.heads[term]; ok && f.kind == Query {
		f.head(head, stopShare)
	}
}

// heads adds the heads that a question's term asks for, or that a document's term answers.
func (f *features) heads(term string, weight float64) {
	if f.kind == Document {
		for _, head := range f.words.answers[term] {
			f.head(head, weight)
		}
		return
	}
	if head, ok := f.words.heads[term]; ok {
		f.head(head, weight)
		return
	}
	for _, head := range f.words.asks[term] {
		f.head(head, weight*askShare)
	}
}

// head sets a head's dimension to the weight of the strongest term for it.
func (f *features) head(head int, weight float64) {
	place := &f.vector[wordDims+head%(headDims-1)]
	*place = max(*place, weight)
}

// letters adds the trigrams of a word, so that a misspelt or inflected word is still near.
func (f *features) letters(word string, weight float64) {
	const most = 24
	var buffer [(most + 2) * utf8.UTFMax]byte
	var starts [most + 3]int
	n := 0
	padded := append(buffer[:0], '^')
	for _, r := range word {
		if n++; n > most || !inWord(r) {
			return
		}
		starts[n] = len(padded)
		padded = utf8.AppendRune(padded, r)
	}
	starts[n+1] = len(padded)
	padded = append(padded, '$')
	if n < 3 {
		return
	}
	starts[n+2] = len(padded)
	weight /= math.Sqrt(float64(n))
	for i := range n {
		f.hashed(hashOf(2, padded[starts[i]:starts[i+3]]), weight)
	}
}

// inWord reports whether r is a letter of a script whose terms are whole words.
func inWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 0xC0 <= r && r < 0x0E00
}

// hashed adds weight in the dimension and with the sign of a hash (Weinberger et al., "Feature hashing", 2009).
func (f *features) hashed(hash uint64, weight float64) {
	random := splitMix(hash)
	bits := random.next()
	if bits>>63 == 1 {
		weight = -weight
	}
	f.vector[bits%wordDims] += weight
}

// hashOf is FNV-1a over the kind of a feature and its name.
func hashOf[T string | []byte](kind byte, name T) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := (offset ^ uint64(kind)) * prime
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * prime
	}
	return hash
}

// rarity estimates how much a term distinguishes. Longer words are rarer. A single Han character distinguishes less
// than the pairs that contain it.
func rarity(term string) float64 {
	if len(term) > 1 && term[0] >= utf8.RuneSelf {
		if utf8.RuneCountInString(term) == 1 {
			return 0.4
		}
		return 1
	}
	return 0.4 + 0.1*float64(min(len(term), 8))
}
