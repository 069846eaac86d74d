package embedding

import (
	"context"
	"fmt"

	"github.com/annals-kb/annals/projections/embedding/static"
)

// File is an embedder that reads a static model from a folder. It sends texts nowhere.
type File struct{ model *static.Model }

var _ Embedder = File{}

// OpenFile opens the model in a folder. Errors name the file and the way out.
func OpenFile(path string) (File, error) {
	model, err := static.Open(path)
	return File{model}, err
}

// filePrefix begins the names of models that are files.
const filePrefix = "file:"

// Name has the folder's name, and the beginning of the SHA-256 of its tensor file.
func (f File) Name() string { return filePrefix + f.model.Name }

// Dims is the number of columns of the model's table.
func (f File) Dims() int { return f.model.Dims }

// fileCalibration is that of static models: unrelated texts are at about 0.2, answers at about 0.5.
var fileCalibration = calibrated(0.4, 12)

// Calibration is the same for all static models.
func (File) Calibration() Calibration { return fileCalibration }

// Embed adds the rows of each text's tokens.
func (f File) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := f.model.Sum(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if Normalize(v) != nil { // no token is known
			v = noMeaning(f.Dims(), kind)
		}
		vectors[i] = v
	}
	return vectors, nil
}

// noMeaning returns the vector of a text that says nothing to a model. Such a question is opposite to such a text,
// which is no answer, and near to no other.
func noMeaning(dims int, kind Kind) []float32 {
	v := make([]float32, dims)
	v[0] = 1
	if kind == Query {
		v[0] = -1
	}
	return v
}
