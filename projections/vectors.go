package projections

import (
	"database/sql"
	"errors"

	"github.com/pgvector/pgvector-go"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/embedding"
)

// scanVectors reads rows of a text's hash and its vector, and closes them.
func (m *Meaning) scanVectors(rows *sql.Rows, into map[hash][]float32) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name []byte
		var h hash
		var vector []float32
		if m.db.Engine == database.Postgres {
			var half pgvector.HalfVector
			err = rows.Scan(&name, &half)
			vector = half.Slice()
		} else {
			var blob []byte
			if err = rows.Scan(&name, &blob); err == nil {
				vector, err = embedding.Decode(blob)
			}
		}
		if err != nil {
			return err
		}
		copy(h[:], name)
		into[h] = vector
	}
	return rows.Err()
}
