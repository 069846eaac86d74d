package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/embedding"
)

const (
	dims   = 1536
	topics = 400
	themes = 8 // of each topic
)

// How much of a vector's variance is common to all, to its topic, to its theme within that, its own, and noise. So two
// texts have a cosine of 0.1, of one topic 0.4, of one theme 0.6, and the nearest somewhat more, much as models' vectors
// have.
const (
	commonShare = 0.10
	topicShare  = 0.28
	themeShare  = 0.24
	ownShare    = 0.28
	noiseShare  = 0.10
)

// space makes vectors: a mixture of topics whose sizes fall off as names in a ranking do, in a few hundred dimensions that
// matter and many that hardly do, as the spectra of models' vectors are.
type space struct {
	spectrum [dims]float64 // standard deviation along each dimension; its squares add up to 1
	common   []float64
	centres  [][]float64   // of topics
	themes   [][][]float64 // of each topic
	sizes    []float64     // of topics, cumulative, up to 1
}

func newSpace(random *rand.Rand) *space {
	s := &space{}
	sum := 0.0
	for k := range s.spectrum {
		s.spectrum[k] = 1 / math.Pow(8+float64(k), 0.6)
		sum += s.spectrum[k] * s.spectrum[k]
	}
	for k := range s.spectrum {
		s.spectrum[k] /= math.Sqrt(sum)
	}
	random.Shuffle(dims, func(i, j int) { s.spectrum[i], s.spectrum[j] = s.spectrum[j], s.spectrum[i] })
	s.common = s.draw(random)
	total := 0.0
	for topic := range topics {
		s.centres = append(s.centres, s.draw(random))
		s.themes = append(s.themes, nil)
		for range themes {
			s.themes[topic] = append(s.themes[topic], s.draw(random))
		}
		total += 1 / math.Sqrt(float64(topic+1))
		s.sizes = append(s.sizes, total)
	}
	for topic := range s.sizes {
		s.sizes[topic] /= total
	}
	return s
}

func (s *space) draw(random *rand.Rand) []float64 {
	v := make([]float64, dims)
	for k := range v {
		v[k] = random.NormFloat64() * s.spectrum[k]
	}
	return v
}

func (s *space) topic(random *rand.Rand) int {
	at, topic := random.Float64(), 0
	for s.sizes[topic] < at {
		topic++
	}
	return topic
}

// vector is what an item about a topic says.
func (s *space) vector(random *rand.Rand, topic int) []float32 {
	return s.mix(random, topic, noiseShare)
}

// question is less like the items than they are like each other.
func (s *space) question(random *rand.Rand, topic int) []float32 {
	return s.mix(random, topic, 2*noiseShare)
}

func (s *space) mix(random *rand.Rand, topic int, noise float64) []float32 {
	v := make([]float32, dims)
	theme := s.themes[topic][random.IntN(themes)]
	for k := range v {
		x := math.Sqrt(commonShare)*s.common[k] + math.Sqrt(topicShare)*s.centres[topic][k] +
			math.Sqrt(themeShare)*theme[k] + math.Sqrt(ownShare)*random.NormFloat64()*s.spectrum[k] + math.Sqrt(noise/dims)*random.NormFloat64()
		v[k] = float32(x)
	}
	if err := embedding.Normalize(v); err != nil {
		panic(err) // a Gaussian vector of 1,536 zeros
	}
	return v
}

// lookup is the model: it knows the vector of every item by the number that its content begins with.
type lookup struct{ vectors [][]float32 }

var _ embedding.Embedder = lookup{}

// Name implements [embedding.Embedder].
func (lookup) Name() string { return fmt.Sprintf("bench:%d", dims) }

// Dims implements [embedding.Embedder].
func (lookup) Dims() int { return dims }

// Calibration implements [embedding.Embedder]: a text of the question's topic is about it.
func (lookup) Calibration() embedding.Calibration {
	return embedding.Calibration{Midpoint: 0.45, Slope: 12, Weight: 0.7, MinScore: 0.05}
}

// Embed implements [embedding.Embedder].
func (l lookup) Embed(_ context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		_, after, _ := strings.Cut(text, "#")
		number, _, _ := strings.Cut(after, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("a text without a number: %w", err)
		}
		vectors[i] = l.vectors[n]
	}
	return vectors, nil
}
