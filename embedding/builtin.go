package embedding

import (
	"context"
	"math"

	"github.com/annals-kb/annals/text"
)

// Builtin is the embedder that needs no model and no network.
type Builtin struct{}

var _ Embedder = Builtin{}

const builtinDims = 1024

// Name returns the name of its vector space.
func (Builtin) Name() string { return "builtin-1" }

// Dims returns the length of its vectors.
func (Builtin) Dims() int { return builtinDims }

// Calibration says how to read its cosines.
func (Builtin) Calibration() Calibration {
	return Calibration{Midpoint: 0.35, Slope: 10, Weight: 0.3, MinScore: 0.1}
}

// Embed never fails unless ctx has ended.
func (b Builtin) Embed(ctx context.Context, texts []string, _ Kind) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = b.vector(s)
	}
	return vectors, nil
}

func (Builtin) vector(s string) []float32 {
	v := make([]float32, builtinDims)
	bag := text.BagOf(s)
	for i, term := range bag.Terms {
		weight := float32(1 + math.Log(float64(bag.Counts[i])))
		if text.IsStopWord(term) {
			weight *= 0.1
		}
		addFeature(v, term, weight)
	}
	if Normalize(v) != nil {
		v[0] = 1
	}
	return v
}

func addFeature(v []float32, feature string, weight float32) {
	hash := uint64(14695981039346656037)
	for i := range len(feature) {
		hash = (hash ^ uint64(feature[i])) * 1099511628211
	}
	random := splitMix(hash)
	bits := random.next()
	if bits>>63 == 1 {
		weight = -weight
	}
	v[bits%uint64(len(v))] += weight
}
