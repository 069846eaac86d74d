// Package sentence encodes English texts as vectors that are near if the texts mean something similar, although they
// have no word in common. It is the Universal Sentence Encoder lite (Cer et al., 2018): two layers of a transformer.
//
// Its one rule: the vectors are those of the original encoder, to a cosine of 0.999. LICENSE.md names the source of
// weights.bin, and scripts/sentence.mjs writes it and describes its form.
package sentence

import (
	"context"
	_ "embed"
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/viterin/vek/vek32"
	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/projections/embedding/static"
)

const (
	// Dims is the length of a vector.
	Dims = 512

	pieceDims  = 256 // of a piece of the vocabulary
	hiddenDims = 1536
	heads      = 4
	reserved   = 6    // the first pieces are in no text
	mostTokens = 128  // of a text: the encoder was trained with as many
	mostBytes  = 8192 // more than 128 pieces have
	mark       = "▁"  // begins words
)

//go:embed weights.bin
var weights []byte

// English returns the encoder whose weights are in the program. It reads them at the first call.
var English = sync.OnceValues(func() (*Encoder, error) { return Open(weights) })

// Encoder turns texts into vectors. It is safe for concurrent use.
type Encoder struct {
	pieces      *static.Unigram
	letters     []int // and digits, of each piece
	table       []byte
	frequencies []float32
	widen       dense
	layers      [2]layer
	last        dense
	memories    chan *memory // one for each processor, nil until it is used
}

// layer is a layer of a transformer with normalisation first (Xiong et al., 2020).
type layer struct {
	before            layerNorm
	attention, output dense
	between           layerNorm
	hidden, result    dense
}

// memory is what encoding one text needs. Its matrices have a row for each token.
type memory struct {
	input, residual, normal, attended, added, wide matrix
	scores, values                                 matrix // of a head
}

func newMemory() *memory {
	return &memory{
		input: newMatrix(mostTokens, pieceDims), residual: newMatrix(mostTokens, Dims),
		normal: newMatrix(mostTokens, Dims), attended: newMatrix(mostTokens, Dims),
		added: newMatrix(mostTokens, Dims), wide: newMatrix(mostTokens, hiddenDims),
		scores: newMatrix(mostTokens, mostTokens), values: newMatrix(Dims/heads, mostTokens),
	}
}

func newEncoder(pieces []string, scores []float64) *Encoder {
	e := &Encoder{letters: make([]int, len(pieces)), memories: make(chan *memory, runtime.GOMAXPROCS(0))}
	ids := map[string]int{}
	for i := reserved; i < len(pieces); i++ {
		ids[pieces[i]], e.letters[i] = i, countLetters(pieces[i])
	}
	// As in the original, the later of two equal tokens is taken, and a way to a place with the score 0 counts as none.
	e.pieces = static.NewUnigram(ids, scores, 0, func(score, best float64) bool { return score >= best || best == 0 })
	for range cap(e.memories) {
		e.memories <- nil
	}
	return e
}

// Tokens cuts a text into pieces of the vocabulary, and returns the numbers of the first 128: 0 stands for unknown
// characters that follow one another. known is the share of the letters and digits that are in the vocabulary, 0 of a
// text that has none.
func (e *Encoder) Tokens(text string) (tokens []int, known float64) {
	text = norm.NFKC.String(text[:min(len(text), mostBytes)])
	if text == "" {
		return nil, 0
	}
	letters := 0
	for _, token := range e.pieces.Cut(mark + strings.ReplaceAll(text, " ", mark)) {
		token = max(token, 0)
		letters += e.letters[token]
		if token > 0 || len(tokens) == 0 || tokens[len(tokens)-1] > 0 {
			tokens = append(tokens, token)
		}
	}
	return tokens[:min(len(tokens), mostTokens)], float64(letters) / float64(max(1, countLetters(text)))
}

// Encode returns the unit vector of a text with at least one token. Each processor encodes one text at a time. Encode
// waits for one, and returns the error of ctx if that ends before.
func (e *Encoder) Encode(ctx context.Context, tokens []int) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case m := <-e.memories:
		if m == nil {
			m = newMemory()
		}
		defer func() { e.memories <- m }()
		return e.vector(m, tokens), nil
	}
}

func (e *Encoder) vector(m *memory, tokens []int) []float32 {
	n := len(tokens)
	x, residual := m.input.as(n, pieceDims), m.residual.as(n, Dims)
	for i, token := range tokens {
		e.look(x.row(i), token, i)
	}
	e.widen.apply(residual, x)
	for i := range e.layers {
		e.layers[i].apply(m, x, residual)
		x = residual
	}
	mean, last := m.normal.as(1, Dims), newMatrix(1, Dims)
	clear(mean.row(0))
	for i := range n {
		vek32.Add_Inplace(mean.row(0), residual.row(i))
	}
	vek32.MulNumber_Inplace(mean.row(0), 1/float32(n))
	e.last.apply(last, mean)
	vector, length := last.row(0), 0.0
	for i, x := range vector {
		vector[i] = float32(math.Tanh(float64(x)))
		length += float64(vector[i]) * float64(vector[i])
	}
	vek32.MulNumber_Inplace(vector, float32(1/math.Sqrt(length)))
	return vector
}

// look sets row to the vector of a token, plus sine and cosine of its position (Vaswani et al., 2017).
func (e *Encoder) look(row []float32, token, position int) {
	for i, frequency := range e.frequencies {
		sine, cosine := math.Sincos(float64(float32(position) * frequency))
		row[i], row[len(row)/2+i] = float32(sine), float32(cosine)
	}
	const added = 2 // the original adds it twice
	addRow(row, e.table[token*rowBytes(pieceDims):], added)
}

// apply adds to residual what the layer makes of x, which may be the same.
func (l *layer) apply(m *memory, x, residual matrix) {
	n, columns := x.rows, x.columns
	normal, wide, attended := m.normal.as(n, columns), m.wide.as(n, 3*columns), m.attended.as(n, columns)
	l.before.apply(normal, x)
	l.attention.apply(wide, normal)
	for head, size := 0, columns/heads; head < heads; head++ {
		queries, keys := wide.part(head*size, size), wide.part(columns+head*size, size)
		scores := m.scores.as(n, n)
		scores.multiply(queries, keys)
		scores.softmax(float32(1 / math.Sqrt(float64(size))))
		attended.part(head*size, size).multiply(scores, wide.part(2*columns+head*size, size).transposed(m.values))
	}
	added := m.added.as(n, Dims)
	l.output.apply(added, attended)
	residual.add(added)

	normal, wide = m.normal.as(n, Dims), m.wide.as(n, hiddenDims)
	l.between.apply(normal, residual)
	l.hidden.apply(wide, normal)
	for i := range n {
		vek32.MaximumNumber_Inplace(wide.row(i), 0)
	}
	l.result.apply(added, wide)
	residual.add(added)
}
