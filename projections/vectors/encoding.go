package vectors

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/embedding"
)

// vectorColumn selects a vector as bytes: PostgreSQL would write out every number.
func (m *Projection) vectorColumn() string {
	if m.db.Engine == database.Postgres {
		return "halfvec_send(vector)"
	}
	return "vector"
}

// scanVectors reads rows of a text's hash and its vector, and closes them.
func (m *Projection) scanVectors(rows *sql.Rows, into map[Hash][]float32) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	decode := embedding.Decode
	if m.db.Engine == database.Postgres {
		decode = decodeHalves
	}
	for rows.Next() {
		var name, encoded sql.RawBytes
		if err := rows.Scan(&name, &encoded); err != nil {
			return err
		}
		vector, err := decode(encoded)
		if err != nil {
			return err
		}
		into[Hash(name)] = vector
	}
	return rows.Err()
}

// decodeHalves reads what pgvector sends of a halfvec: how many numbers there are, two bytes of nothing, and the
// numbers with 16 bits each, all big-endian.
func decodeHalves(b []byte) ([]float32, error) {
	const header = 4
	if len(b) < header || len(b) != header+2*int(binary.BigEndian.Uint16(b)) {
		return nil, fmt.Errorf("%w: %d bytes of halves", embedding.ErrVector, len(b))
	}
	vector := make([]float32, (len(b)-header)/2)
	for i := range vector {
		vector[i] = fromHalf(binary.BigEndian.Uint16(b[header+2*i:]))
	}
	return vector, nil
}

// fromHalf widens a number of 16 bits (IEEE 754-2008, binary16). A vector has none that is not finite.
func fromHalf(half uint16) float32 {
	const exponents, fractions = 5, 10
	sign, exponent, fraction := uint32(half>>15)<<31, uint32(half>>fractions)&(1<<exponents-1), uint32(half)&(1<<fractions-1)
	if exponent == 0 { // too small to have a leading one
		return math.Float32frombits(sign|math.Float32bits(1)) * float32(fraction) / (1 << 24)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<(23-fractions))
}
