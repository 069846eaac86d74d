package projections

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"
)

// compare does both of its tasks in one statement.
func (n *postgresNearest) compare(ctx context.Context, q question, s shortlist, numbers []int64) (nearby, error) {
	others, err := n.piecesOf(ctx, q, s, numbers)
	if err != nil {
		return nearby{}, n.meaning.knowledge.failed(ctx, "look pieces up", err)
	}
	var l listing
	wanted := make(map[int64]bool, len(numbers))
	for _, number := range numbers {
		wanted[number] = true
	}
	for i, place := range s.places {
		for _, c := range place {
			l.add(i, c.number, c.hash[:], wanted[c.number])
		}
	}
	for _, c := range others {
		l.add(nowhere, c.number, c.hash[:], true)
		delete(wanted, c.number)
	}
	for number := range wanted { // without a vector yet
		l.add(nowhere, number, nil, true)
	}
	if l.rows == 0 {
		return nearby{}, nil
	}
	readings, err := n.read(ctx, n.best(q, &l))
	if err != nil {
		return nearby{}, n.meaning.knowledge.failed(ctx, "compare by meaning", err)
	}
	return q.gather(readings), nil
}

// piecesOf are the pieces of items that words found.
func (n *postgresNearest) piecesOf(ctx context.Context, q question, s shortlist, numbers []int64) (list []candidate, err error) {
	if s.library != nil || len(numbers) == 0 {
		if s.library != nil {
			list = s.library.piecesOf(numbers)
		}
		return list, nil
	}
	in := place{engine: n.meaning.db.Engine, tenant: q.search.By.Tenant, table: n.meaning.tables.pieces, alias: "m"}
	found := make([][]candidate, 1)
	query := lookUp(n.meaning.db.NewSelect().ColumnExpr("DISTINCT 0, m.number, m.text_hash"), in, singly(numbers), "number")
	err = n.list(ctx, scanSettings, query, found)
	return found[0], err
}

// listing is pieces as the arrays of a statement.
type listing struct {
	rows                          int
	places, numbers, hashes, kept []byte
}

func (l *listing) add(place int, number int64, name []byte, keep bool) {
	if l.rows > 0 {
		l.places, l.numbers = append(l.places, ','), append(l.numbers, ',')
		l.hashes, l.kept = append(l.hashes, ','), append(l.kept, ',')
	}
	l.rows++
	l.places = strconv.AppendInt(l.places, int64(place), 10)
	l.numbers = strconv.AppendInt(l.numbers, number, 10)
	l.kept = strconv.AppendBool(l.kept, keep)
	if name == nil {
		l.hashes = append(l.hashes, "NULL"...)
		return
	}
	l.hashes = append(l.hashes, `"\\x`...)
	l.hashes = hex.AppendEncode(l.hashes, name)
	l.hashes = append(l.hashes, '"')
}

// best compares the vectors of listed pieces and reads the items of the best of each place, and of those
// that are kept in any case. The distance is a query of its own because a join might remember every vector
// it meets, in vain.
func (n *postgresNearest) best(q question, l *listing) fmt.Stringer {
	db, tables := n.meaning.db, n.meaning.tables
	distance := db.NewSelect().TableExpr("? AS v", tables.vectors).ColumnExpr("v.vector <=> (TABLE question)").
		Where("v.tenant = ?", q.search.By.Tenant).Where("v.text_hash = listed.text_hash")
	return db.NewRaw(`
		WITH question AS MATERIALIZED (SELECT ?::halfvec)
		SELECT near.place, near.number, 1 - near.distance, k.*
		FROM (
			SELECT compared.*, row_number() OVER (PARTITION BY compared.place ORDER BY compared.distance) AS rank
			FROM (
				SELECT listed.place, listed.number, listed.kept, (?) AS distance
				FROM unnest('{?}'::int[], '{?}'::bigint[], '{?}'::bytea[], '{?}'::boolean[]) AS listed (place, number, text_hash, kept)
			) AS compared
		) AS near
		LEFT JOIN LATERAL (? OFFSET 0) AS k ON true
		WHERE near.rank <= ? OR near.kept`,
		vectorText(q.vector), distance,
		bun.Safe(l.places), bun.Safe(l.numbers), bun.Safe(l.hashes), bun.Safe(l.kept),
		q.from.slimQuery(q.search, "near.number"), q.depths(q.places[0]).vectors)
}

// vectorText writes a vector as PostgreSQL reads a halfvec, with the digits that one has.
func vectorText(v []float32) string {
	const digits = 5
	text := make([]byte, 0, 12*len(v))
	for _, x := range v {
		text = append(text, ',')
		text = strconv.AppendFloat(text, float64(x), 'g', digits, 32)
	}
	text[0] = '['
	return string(append(text, ']'))
}

// read reads the rows of a comparison: place, number, cosine and the item, which is missing if it did not
// pass.
func (n *postgresNearest) read(ctx context.Context, query fmt.Stringer) ([]reading, error) {
	rows, err := n.meaning.db.QueryContext(ctx, scanSettings+query.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []reading
	var number int64
	var cosine sql.NullFloat64
	var place int
	var row slimRow
	into := append([]any{&place, &number, &cosine}, row.into()...)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		found := reading{place: place, passed: row.id.Valid, near: near{cosine: cosine.Float64, compared: cosine.Valid}}
		found.number = number
		if found.passed {
			if found.slim, err = row.slim(number); err != nil {
				return nil, err
			}
		}
		list = append(list, found)
	}
	return list, rows.Err()
}
