package vectors

import (
	"database/sql"
	"errors"

	"github.com/pgvector/pgvector-go"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/embedding"
)

// vectorColumn selects a vector as bytes. As text PostgreSQL would format every number.
func (m *Projection) vectorColumn() string {
	if m.db.Engine == database.Postgres {
		return "vector_send(vector::vector)"
	}
	return "vector"
}

// scanVectors reads rows of a text's hash and its vector, and closes them.
func (m *Projection) scanVectors(rows *sql.Rows, into map[Hash][]float32) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name, encoded sql.RawBytes
		if err := rows.Scan(&name, &encoded); err != nil {
			return err
		}
		vector, err := m.decode(encoded)
		if err != nil {
			return err
		}
		into[Hash(name)] = vector
	}
	return rows.Err()
}

// decode decodes pgvector's binary format, and restores the length that half precision has changed, or SQLite's bytes.
func (m *Projection) decode(b []byte) ([]float32, error) {
	if m.db.Engine == database.SQLite {
		return embedding.Decode(b, m.Tables.dims)
	}
	var vector pgvector.Vector
	if err := vector.DecodeBinary(b); err != nil {
		return nil, err
	}
	return vector.Slice(), embedding.Normalize(vector.Slice())
}
