package embedding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrVector is returned for bytes that are not a vector, and for a vector without a direction.
var ErrVector = errors.New("not a vector")

// Normalize scales v to length 1 in place. It returns ErrVector if v has no direction: all zero, infinite or not a
// number.
func Normalize(v []float32) error {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return fmt.Errorf("%w: no direction", ErrVector)
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return nil
}

// Cosine is the inner product of two unit vectors of the same length.
func Cosine(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0+s1) + float64(s2+s3)
}

// Encode writes the direction of v with a signed byte per dimension, in units of a 127th of the largest one.
func Encode(v []float32) []byte {
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	b := make([]byte, len(v))
	for i, x := range v {
		b[i] = byte(int8(math.Round(float64(127 * x / largest))))
	}
	return b
}

// Decode decodes the result of Encode to a unit vector of dims dimensions. Earlier versions of Annals wrote
// little-endian float32, four times as many bytes, and Decode reads them, too. It returns ErrVector for any other
// length.
func Decode(b []byte, dims int) ([]float32, error) {
	v := make([]float32, dims)
	switch len(b) {
	case dims:
		for i, x := range b {
			v[i] = float32(int8(x))
		}
		return v, Normalize(v)
	case 4 * dims:
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return v, nil
	}
	return nil, fmt.Errorf("%w: %d bytes for %d dimensions", ErrVector, len(b), dims)
}
