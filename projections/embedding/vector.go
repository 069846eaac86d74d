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

// Encode writes v as little-endian float32, four bytes each.
func Encode(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Decode decodes the result of Encode. It returns ErrVector if b is truncated.
func Decode(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("%w: %d bytes", ErrVector, len(b))
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}
