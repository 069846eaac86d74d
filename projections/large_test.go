package projections_test

import (
	"context"
	"hash/fnv"
	"math/rand/v2"

	"github.com/annals-kb/annals/projections/embedding"
)

// tiny is an embedder of few dimensions, so that many vectors are soon made. What texts say does not
// matter; each is about one of two hundred topics.
type tiny struct{}

var _ embedding.Embedder = tiny{}

func (tiny) Name() string { return "test:tiny:32" }
func (tiny) Dims() int    { return 32 }

func (tiny) Calibration() embedding.Calibration {
	return embedding.Calibration{Midpoint: 0.5, Slope: 5, Weight: 0.5}
}

func (tiny) Embed(_ context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		hash := fnv.New64a()
		hash.Write([]byte(text))
		topic, own := rand.New(rand.NewPCG(hash.Sum64()%200, 1)), rand.New(rand.NewPCG(hash.Sum64(), 2))
		for range 32 {
			vectors[i] = append(vectors[i], float32(topic.NormFloat64()+own.NormFloat64()/2))
		}
		if err := embedding.Normalize(vectors[i]); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}
