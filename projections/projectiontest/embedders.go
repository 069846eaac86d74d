package projectiontest

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"

	"github.com/annals-kb/annals/projections/embedding"
)

// Model is the built-in embedder with an eye on it: it can be down, and counts what it embeds.
type Model struct {
	embedding.Builtin

	mu       sync.Mutex
	down     error
	Embedded map[string]int
	Asked    [][]string // the questions of each request
}

func (m *Model) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return nil, m.down
	}
	if m.Embedded == nil {
		m.Embedded = map[string]int{}
	}
	if kind == embedding.Document {
		for _, text := range texts {
			m.Embedded[text]++
		}
	}
	if kind == embedding.Query {
		m.Asked = append(m.Asked, texts)
	}
	return m.Builtin.Embed(ctx, texts, kind)
}

func (m *Model) Goes(down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Tiny is an embedder of few dimensions, so that many vectors are soon made. What texts say does not
// matter; each is about one of two hundred topics.
type Tiny struct{}

var _ embedding.Embedder = Tiny{}

func (Tiny) Name() string { return "test:tiny:32" }

func (Tiny) Dims() int { return 32 }

func (Tiny) Calibration() embedding.Calibration {
	return embedding.Calibration{Midpoint: 0.5, Slope: 5, Weight: 0.5}
}

func (Tiny) Embed(_ context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
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
