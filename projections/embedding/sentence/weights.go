package sentence

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"unicode"
)

// errDamaged says that a file of weights is not what scripts/sentence.mjs wrote.
var errDamaged = errors.New("the weights of the sentence encoder are cut or damaged: " +
	"take weights.bin of this version, and build the program again")

// Open reads the encoder of a file that scripts/sentence.mjs wrote. Most of its numbers become float32 in memory: 20
// MB. The file must not change afterwards.
func Open(file []byte) (*Encoder, error) {
	end := len(file) - sha256.Size
	if end < 0 {
		return nil, errDamaged
	}
	if sum := sha256.Sum256(file[:end]); !bytes.Equal(sum[:], file[end:]) {
		return nil, errDamaged
	}
	r := reader(file[:end])
	e := newEncoder(r.pieces())
	e.table = r.take(len(e.letters) * rowBytes(pieceDims))
	e.frequencies = r.vector(pieceDims / 2)
	e.widen = r.dense(pieceDims, Dims)
	for i, inputs := range [...]int{pieceDims, Dims} {
		e.layers[i] = layer{
			before: r.layerNorm(inputs), attention: r.dense(inputs, 3*inputs), output: r.dense(inputs, Dims),
			between: r.layerNorm(Dims), hidden: r.dense(Dims, hiddenDims), result: r.dense(hiddenDims, Dims),
		}
	}
	e.last = r.dense(Dims, Dims)
	return e, nil
}

// reader is what is still to be read of a file whose checksum is right.
type reader []byte

func (r *reader) take(n int) []byte {
	taken := (*r)[:n]
	*r = (*r)[n:]
	return taken
}

// pieces reads the vocabulary: texts in the order of their numbers, and their scores.
func (r *reader) pieces() (texts []string, scores []float64) {
	texts = make([]string, binary.LittleEndian.Uint16(r.take(2)))
	scores = make([]float64, len(texts))
	for i := range texts {
		texts[i] = string(r.take(int(r.take(1)[0])))
		scores[i] = math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
	}
	return texts, scores
}

func (r *reader) vector(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.take(4)))
	}
	return v
}

const (
	unitBytes = 4  // at the beginning of a row
	group     = 16 // numbers that have a scale of their own
)

// rowBytes is the length of a row of n numbers.
func rowBytes(n int) int { return unitBytes + n + n/group }

// addRow adds a row's numbers, times factor, to v.
func addRow(v []float32, row []byte, factor float32) {
	unit := factor * math.Float32frombits(binary.LittleEndian.Uint32(row))
	row = row[unitBytes:]
	for len(v) > 0 {
		scale := unit * float32(row[0])
		for i, b := range row[1 : 1+group] {
			v[i] += scale * float32(int8(b))
		}
		v, row = v[group:], row[1+group:]
	}
}

// dense reads a matrix with a row for each output, and its bias.
func (r *reader) dense(inputs, outputs int) dense {
	d := dense{weights: newMatrix(outputs, inputs)}
	for i := range outputs {
		addRow(d.weights.row(i), r.take(rowBytes(inputs)), 1)
	}
	d.bias = r.vector(outputs)
	return d
}

func (r *reader) layerNorm(n int) layerNorm { return layerNorm{scale: r.vector(n), bias: r.vector(n)} }

// countLetters returns how many letters and digits a text has.
func countLetters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
