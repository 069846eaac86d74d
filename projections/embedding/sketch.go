package embedding

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Sketch keeps one bit of each dimension: the sign of v after a random rotation that is the same for every vector of
// its length. Few different bits mean a high cosine, whatever single coordinates carry it, so that the best 100–200
// by Hamming contain the ten nearest. It has a power of two of bits, at least 64 and at least four for every three
// dimensions: fewer lose neighbours.
//
// The rotation is three rounds of random signs and a Walsh–Hadamard transform (Ailon and Chazelle, "The fast
// Johnson–Lindenstrauss transform", 2009).
func Sketch(v []float32) []uint64 {
	rotated := rotate(v)
	sketch := make([]uint64, len(rotated)/64)
	for i, x := range rotated {
		if x > 0 {
			sketch[i/64] |= 1 << (i % 64)
		}
	}
	return sketch
}

func rotate(v []float32) []float32 {
	rotated := make([]float32, sketchBits(len(v)))
	copy(rotated, v)
	random := splitMix(uint64(len(v)))
	for range 3 {
		flipSigns(rotated, &random)
		hadamard(rotated)
	}
	return rotated
}

// SketchQuery estimates the similarity of sketched vectors to a query vector. It uses the numbers of the query
// instead of their signs, so its error is two thirds of that of the Hamming distance.
type SketchQuery struct {
	sums [][16]float32 // for four dimensions each, by their bits
}

// NewSketchQuery prepares the comparison of sketches with v.
func NewSketchQuery(v []float32) SketchQuery {
	rotated := rotate(v)
	sums := make([][16]float32, len(rotated)/4)
	for i := range sums {
		for set := range 16 {
			for bit := range 4 {
				if set&(1<<bit) != 0 {
					sums[i][set] += rotated[4*i+bit]
				}
			}
		}
	}
	return SketchQuery{sums}
}

// Similarity grows with the cosine between v and the sketched vector. Only its order is meaningful.
func (j SketchQuery) Similarity(sketch []uint64) float32 {
	var nearness float32
	for i, word := range sketch {
		sums := j.sums[16*i : 16*i+16]
		for nibble := range sums {
			nearness += sums[nibble][word&15]
			word >>= 4
		}
	}
	return nearness
}

// SketchBytes is the length of an encoded sketch of vectors of dims dimensions.
func SketchBytes(dims int) int { return sketchBits(dims) / 8 }

func sketchBits(dims int) int {
	return max(64, 1<<bits.Len(uint(dims+dims/3-1)))
}

// Hamming counts the bits in which two sketches of the same length differ. Four words at a time take half the time of
// one.
func Hamming(a, b []uint64) int {
	b = b[:len(a)]
	distance := 0
	for len(a) >= 4 {
		x, y := (*[4]uint64)(a), (*[4]uint64)(b)
		distance += bits.OnesCount64(x[0]^y[0]) + bits.OnesCount64(x[1]^y[1]) + bits.OnesCount64(x[2]^y[2]) +
			bits.OnesCount64(x[3]^y[3])
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		distance += bits.OnesCount64(x ^ b[i])
	}
	return distance
}

// EncodeSketch writes a sketch as little-endian words.
func EncodeSketch(sketch []uint64) []byte {
	b := make([]byte, 0, 8*len(sketch))
	for _, word := range sketch {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// DecodeSketch decodes the result of EncodeSketch. It returns ErrVector if b is truncated.
func DecodeSketch(b []byte) ([]uint64, error) {
	if len(b)%8 != 0 {
		return nil, fmt.Errorf("%w: a sketch of %d bytes", ErrVector, len(b))
	}
	sketch := make([]uint64, len(b)/8)
	for i := range sketch {
		sketch[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return sketch, nil
}

// splitMix is Steele, Lea and Flood's SplitMix64 generator: small, and the same on every machine.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func flipSigns(v []float32, random *splitMix) {
	for i := 0; i < len(v); i += 64 {
		signs := random.next()
		for j := range v[i : i+64] {
			if signs&(1<<j) != 0 {
				v[i+j] = -v[i+j]
			}
		}
	}
}

// hadamard transforms v, whose length is a power of two, in place and unscaled: only signs matter.
func hadamard(v []float32) {
	for half := 1; half < len(v); half *= 2 {
		for i := 0; i < len(v); i += 2 * half {
			low, high := v[i:i+half], v[i+half:i+2*half]
			for j, x := range low {
				y := high[j]
				low[j], high[j] = x+y, x-y
			}
		}
	}
}
