package embedding_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/annals-kb/annals/projections/embedding"
)

func TestTheNearestAreAmongTheBestByHamming(t *testing.T) {
	t.Parallel()
	const count, queries = 4000, 20
	for name, random := range map[string]func(r *rand.Rand) []float32{
		"dense": func(r *rand.Rand) []float32 { return around(r, dense(r.IntN(200), 384), 1) },
		"odd":   func(r *rand.Rand) []float32 { return around(r, dense(r.IntN(200), 1000), 1) },
		"sparse": func(r *rand.Rand) []float32 { // words: few coordinates carry everything
			v := make([]float32, 1024)
			for range 16 {
				v[int(math.Exp(r.Float64()*math.Log(1024)))%1024] += 0.5 + r.Float32()
			}
			return v
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			vectors, sketches := make([][]float32, count), make([][]uint64, count)
			for i := range vectors {
				vectors[i] = unit(t, random(r))
				sketches[i] = embedding.Sketch(vectors[i])
			}
			found, wanted := 0, 0
			for range queries {
				query := unit(t, random(r))
				sketch := embedding.Sketch(query)
				near := best(count, 200, func(i int) float64 { return -float64(embedding.Hamming(sketch, sketches[i])) })
				for _, i := range best(count, 10, func(i int) float64 { return embedding.Cosine(query, vectors[i]) }) {
					wanted++
					if slices.Contains(near, i) {
						found++
					}
				}
			}
			if recall := float64(found) / float64(wanted); recall < 0.99 {
				t.Errorf("recall %v, want at least 0.99", recall)
			}
		})
	}
}

// dense is the centre of the nth cluster.
func dense(n, dims int) []float32 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(dims)))
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func around(r *rand.Rand, v []float32, spread float64) []float32 {
	for i := range v {
		v[i] += float32(spread * r.NormFloat64())
	}
	return v
}

func unit(t *testing.T, v []float32) []float32 {
	t.Helper()
	if err := embedding.Normalize(v); err != nil {
		t.Fatal(err)
	}
	return v
}

func best(count, n int, score func(int) float64) []int {
	order, scores := make([]int, count), make([]float64, count)
	for i := range order {
		order[i], scores[i] = i, score(i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order[:n]
}

func TestASketchHasRoomForItsDimensions(t *testing.T) {
	t.Parallel()
	for dims, bytes := range map[int]int{
		1: 8, 48: 8, 49: 16, 384: 64, 768: 128, 1024: 256, 1536: 256, 2048: 512,
		3072: 512,
	} {
		v := make([]float32, dims)
		v[0] = 1
		encoded := embedding.EncodeSketch(embedding.Sketch(v))
		if len(encoded) != bytes || embedding.SketchBytes(dims) != bytes {
			t.Errorf("%d dimensions have %d bytes, promised %d, want %d", dims, len(encoded), embedding.SketchBytes(dims), bytes)
		}
	}
}

// Stored sketches are compared with new ones, so the rotation may never change.
func TestASketchNeverChanges(t *testing.T) {
	t.Parallel()
	v := make([]float32, 100)
	for i := range v {
		v[i] = float32(i%7) - 3
	}
	want := []uint64{0xb768421d67d2aec6, 0xae025df1a445122f, 0xcadb70e757cd8b98, 0xcb6de1e48bbb926a}
	if got := embedding.Sketch(v); !slices.Equal(got, want) {
		t.Errorf("got %#x, want %#x", got, want)
	}
}

func TestOppositesDifferInEveryBit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	v, w := make([]float32, 500), make([]float32, 500)
	for i := range v {
		v[i] = r.Float32() - 0.5
		w[i] = -v[i]
	}
	if got := embedding.Hamming(embedding.Sketch(v), embedding.Sketch(w)); got != 8*embedding.SketchBytes(500) {
		t.Errorf("%d bits differ, want all", got)
	}
	if got := embedding.Hamming(embedding.Sketch(v), embedding.Sketch(v)); got != 0 {
		t.Errorf("%d bits differ, want none", got)
	}
}

func TestVectorsAndSketchesSurviveTheirBytes(t *testing.T) {
	t.Parallel()
	v := []float32{0.6, -0.8}
	earlier := []byte{0x9a, 0x99, 0x19, 0x3f, 0xcd, 0xcc, 0x4c, 0xbf} // little-endian float32
	for _, encoded := range [][]byte{embedding.Encode(v), earlier} {
		decoded, err := embedding.Decode(encoded, len(v))
		if err != nil || embedding.Cosine(decoded, v) < 0.9999 {
			t.Errorf("got %v of %v, error %v", decoded, encoded, err)
		}
	}
	if got, want := embedding.Encode(v), []byte{95, 0x81}; !slices.Equal(got, want) {
		t.Errorf("encoded as %v, want %v", got, want)
	}
	sketch := embedding.Sketch(v)
	again, err := embedding.DecodeSketch(embedding.EncodeSketch(sketch))
	if err != nil || !slices.Equal(again, sketch) {
		t.Errorf("got %v, error %v", again, err)
	}
	if _, err := embedding.Decode(make([]byte, 7), 2); !errors.Is(err, embedding.ErrVector) {
		t.Errorf("cut bytes give %v", err)
	}
	if _, err := embedding.DecodeSketch(make([]byte, 12)); !errors.Is(err, embedding.ErrVector) {
		t.Errorf("cut bytes give %v", err)
	}
}

func TestWhatHasNoDirectionIsRefused(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{{}, {0, 0}, {nan, 1}, {inf, 1}} {
		if err := embedding.Normalize(v); !errors.Is(err, embedding.ErrVector) {
			t.Errorf("Normalize(%v) = %v", v, err)
		}
	}
}

func TestACalibratedScoreIsHalfAtTheMidpoint(t *testing.T) {
	t.Parallel()
	c := embedding.Calibration{Midpoint: 0.4, Slope: 10, Weight: 0.25}
	if got := c.Score(0.4); got != 0.5 {
		t.Errorf("got %v, want 0.5", got)
	}
	if low, high := c.Score(-1), c.Score(1); low < 0 || low > 0.01 || high < 0.99 || high > 1 {
		t.Errorf("opposites score %v, equals %v", low, high)
	}
	if got := c.Join(0.8, 0.4); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("joined %v, want 0.5", got)
	}
}
