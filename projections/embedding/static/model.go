// Package static reads static embedding models in the form of model2vec: a table with a row for each token.
//
// Its one rule: the table stays on disk. Only the rows of a text's tokens are read, so that a large table takes no
// memory of the process.
package static

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// The names of a model's files.
const (
	tensorFile    = "model.safetensors"
	tokenizerFile = "tokenizer.json"
)

// Model is a static embedding model. It is safe for concurrent use. Its file stays open until the process ends.
type Model struct {
	Name string // the folder, the beginning of the SHA-256 of the tensor file, and the dimensions
	Dims int

	tokens  *tokenizer
	table   *os.File
	rows    tensor
	weights []float64 // by token; nil if all have the same
	mapping []int     // the rows by token; nil if they are the tokens' numbers
}

// Open opens the model in a folder, or that of a tensor file. Errors name the file and the way out.
func Open(path string) (*Model, error) {
	folder := path
	if filepath.Base(path) == tensorFile {
		folder = filepath.Dir(path)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	if m.tokens, err = openTokenizer(filepath.Join(folder, tokenizerFile)); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, tokenizerFile), found(err))
	}
	sum, err := m.openTable(filepath.Join(folder, tensorFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, tensorFile), found(err))
	}
	m.Name = fmt.Sprintf("%s:%s:%d", filepath.Base(folder), hex.EncodeToString(sum)[:8], m.Dims)
	return m, nil
}

// found explains why a file cannot be opened.
func found(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("there is no such file: a model is a folder with " + tensorFile + " and " + tokenizerFile)
	}
	return err
}

// tensor is an entry of the header of a tensor file.
type tensor struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"` // after the header; after openTable, in the file
}

var typeSizes = map[string]int{"F64": 8, "F32": 4, "F16": 2, "I8": 1, "I64": 8, "I32": 4}

var errCut = errors.New("the file is cut off: download it again")

// openTable reads what a tensor file contains, and returns its SHA-256.
func (m *Model) openTable(path string) (sum []byte, err error) {
	if m.table, err = os.Open(path); err != nil {
		return nil, err
	}
	hash := sha256.New()
	size, err := io.Copy(hash, m.table)
	if err != nil {
		return nil, err
	}
	tensors, err := header(m.table, size)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"embeddings", "embedding.weight", "0"} {
		if found, is := tensors[name]; is && m.Dims == 0 {
			if len(found.Shape) != 2 || found.Shape[0] < 1 || found.Shape[1] < 1 {
				return nil, fmt.Errorf("the tensor %q has the shape %v, want rows and columns: use a model of model2vec",
					name, found.Shape)
			}
			m.rows, m.Dims = found, found.Shape[1]
		}
	}
	if m.Dims == 0 {
		return nil, errors.New("there is no tensor \"embeddings\": use a model of model2vec")
	}
	rows, tokens := m.rows.Shape[0], m.tokens.size
	if weights, is := tensors["weights"]; is {
		if m.weights, err = m.read(weights, 0, weights.Shape[0]); err != nil {
			return nil, err
		}
	}
	if mapping, is := tensors["mapping"]; is {
		list, err := m.read(mapping, 0, mapping.Shape[0])
		if err != nil {
			return nil, err
		}
		rows = len(list)
		for _, row := range list {
			if row < 0 || int(row) >= m.rows.Shape[0] {
				return nil, fmt.Errorf("the mapping names row %v of %d: download the model again", row, m.rows.Shape[0])
			}
			m.mapping = append(m.mapping, int(row))
		}
	}
	if rows != tokens || m.weights != nil && len(m.weights) != tokens {
		return nil, fmt.Errorf("it has %d rows and %d weights, and %s has %d tokens: take both files from one model",
			rows, len(m.weights), tokenizerFile, tokens)
	}
	return hash.Sum(nil), nil
}

// header reads where the tensors of a file are.
func header(file io.ReaderAt, size int64) (map[string]tensor, error) {
	var length [8]byte
	if _, err := file.ReadAt(length[:], 0); err != nil {
		return nil, errCut
	}
	begin := int64(binary.LittleEndian.Uint64(length[:])) + 8
	if begin < 8 || begin > size {
		return nil, errCut
	}
	encoded := make([]byte, begin-8)
	if _, err := file.ReadAt(encoded, 8); err != nil {
		return nil, err
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &named); err != nil {
		return nil, errors.New("it is no safetensors file: use a model of model2vec")
	}
	delete(named, "__metadata__")
	tensors := map[string]tensor{}
	for name, encoded := range named {
		var t tensor
		if err := json.Unmarshal(encoded, &t); err != nil {
			return nil, fmt.Errorf("the tensor %q has no type, shape and place: download the model again", name)
		}
		bytes := int64(typeSizes[t.Type])
		for _, n := range t.Shape {
			bytes *= int64(n)
		}
		t.Offsets[0] += begin
		t.Offsets[1] += begin
		switch {
		case bytes <= 0 || len(t.Shape) == 0:
			return nil, fmt.Errorf("the tensor %q has the type %s and the shape %v: use a model with F32, F16 or I8", name,
				t.Type, t.Shape)
		case t.Offsets[0] < begin || t.Offsets[1] > size || t.Offsets[1]-t.Offsets[0] != bytes:
			return nil, errCut
		}
		tensors[name] = t
	}
	return tensors, nil
}

// read reads n numbers of a tensor.
func (m *Model) read(t tensor, first, n int) ([]float64, error) {
	size := typeSizes[t.Type]
	encoded, numbers := make([]byte, n*size), make([]float64, n)
	if _, err := m.table.ReadAt(encoded, t.Offsets[0]+int64(first)*int64(size)); err != nil {
		return nil, err
	}
	for i := range numbers {
		b := encoded[i*size:]
		switch t.Type {
		case "F64":
			numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case "F32":
			numbers[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case "F16":
			numbers[i] = half(binary.LittleEndian.Uint16(b))
		case "I8":
			numbers[i] = float64(int8(b[0]))
		case "I64":
			numbers[i] = float64(int64(binary.LittleEndian.Uint64(b)))
		case "I32":
			numbers[i] = float64(int32(binary.LittleEndian.Uint32(b)))
		}
	}
	return numbers, nil
}

// half decodes a number of half precision: a sign, five bits of exponent and ten of fraction.
func half(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	number := math.Ldexp(fraction, -24)
	if exponent > 0 {
		number = math.Ldexp(1024+fraction, exponent-25)
	}
	return math.Copysign(number, -float64(b>>15)+0.5)
}

// Sum adds the rows of a text's tokens, which has the direction of their mean. It has no direction for a text without
// a known token.
func (m *Model) Sum(text string) ([]float32, error) {
	sum := make([]float32, m.Dims)
	for _, token := range m.tokens.of(text) {
		row, weight := token, 1.0
		if m.mapping != nil {
			row = m.mapping[token]
		}
		if m.weights != nil {
			weight = m.weights[token]
		}
		numbers, err := m.read(m.rows, row*m.Dims, m.Dims)
		if err != nil {
			return nil, fmt.Errorf("read the embedding model: %w", err)
		}
		for i, x := range numbers {
			sum[i] += float32(weight * x)
		}
	}
	return sum, nil
}
