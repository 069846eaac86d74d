package sentence

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// matrix is a rectangle of numbers, by rows. It may be a part of a larger one.
type matrix struct {
	rows, columns int
	stride        int // from a row to the next
	numbers       []float32
}

func newMatrix(rows, columns int) matrix {
	return matrix{rows, columns, columns, make([]float32, rows*columns)}
}

// as returns the memory of m as a matrix of another size.
func (m matrix) as(rows, columns int) matrix { return matrix{rows, columns, columns, m.numbers} }

// part returns n columns.
func (m matrix) part(first, n int) matrix { return matrix{m.rows, n, m.stride, m.numbers[first:]} }

func (m matrix) row(i int) []float32 { return m.numbers[i*m.stride:][:m.columns] }

// transposed copies m into the memory of another matrix, rows as columns.
func (m matrix) transposed(memory matrix) matrix {
	t := memory.as(m.columns, m.rows)
	for i := range m.rows {
		for j, x := range m.row(i) {
			t.numbers[j*t.stride+i] = x
		}
	}
	return t
}

func (m matrix) add(other matrix) {
	for i := range m.rows {
		vek32.Add_Inplace(m.row(i), other.row(i))
	}
}

// multiply sets m to the product of a and the transposed b. It takes as many rows of b at a time as fit into the
// first cache of a processor.
func (m matrix) multiply(a, b matrix) {
	const cached = 8192
	step := max(4, cached/b.columns)
	for first := 0; first < b.rows; first += step {
		last := min(first+step, b.rows)
		for i := range a.rows {
			b.times(a.row(i), m.row(i)[:last], first)
		}
	}
}

// hasVectors tells whether the processor multiplies several numbers at once.
var hasVectors = vek32.Info().Acceleration

// times sets into, from first on, to the products of rows of m and x.
func (m matrix) times(x, into []float32, first int) {
	j := first
	for ; !hasVectors && j+4 <= len(into); j += 4 { // four sums that do not wait for one another
		r0, r1, r2, r3 := m.row(j)[:len(x)], m.row(j + 1)[:len(x)], m.row(j + 2)[:len(x)], m.row(j + 3)[:len(x)]
		var s0, s1, s2, s3 float32
		for i, value := range x {
			s0 += value * r0[i]
			s1 += value * r1[i]
			s2 += value * r2[i]
			s3 += value * r3[i]
		}
		into[j], into[j+1], into[j+2], into[j+3] = s0, s1, s2, s3
	}
	for ; j < len(into); j++ {
		into[j] = vek32.Dot(x, m.row(j))
	}
}

// dense is an affine map.
type dense struct {
	weights matrix // a row for each output
	bias    []float32
}

func (d dense) apply(into, x matrix) {
	into.multiply(x, d.weights)
	for i := range into.rows {
		vek32.Add_Inplace(into.row(i), d.bias)
	}
}

// layerNorm is layer normalisation (Ba, Kiros and Hinton, 2016).
type layerNorm struct{ scale, bias []float32 }

func (n layerNorm) apply(into, x matrix) {
	const epsilon = 1e-6
	for i := range x.rows {
		row, result := x.row(i), into.row(i)
		mean, variance := vek32.Mean(row), float32(0)
		for j, value := range row {
			result[j] = value - mean
			variance += result[j] * result[j]
		}
		scale := float32(1 / math.Sqrt(float64(variance/float32(len(row)))+epsilon))
		for j := range result {
			result[j] = result[j]*scale*n.scale[j] + n.bias[j]
		}
	}
}

// softmax makes each row of m, times scale, positive with the sum 1.
func (m matrix) softmax(scale float32) {
	for i := range m.rows {
		row := m.row(i)
		largest, sum := vek32.Max(row), float32(0)
		for j, x := range row {
			row[j] = float32(math.Exp(float64(scale * (x - largest))))
			sum += row[j]
		}
		vek32.MulNumber_Inplace(row, 1/sum)
	}
}
