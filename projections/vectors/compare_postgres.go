package vectors

import (
	"context"
	"database/sql"
	"encoding/hex"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/projections/rows"
)

// Cosines compares the vectors that are in memory, and lets the database compare the others. It asks for those in the
// background only if the tenant's sketches are in memory: only then does the process learn of erasures.
func (n *PostgresNearest) Cosines(
	ctx context.Context, q Question, s Shortlist, pieces []NearPiece,
) (map[Hash]float64, error) {
	cosines := make(map[Hash]float64, len(pieces))
	missing := n.Cache.Vectors.compare(q, pieces, cosines)
	if len(missing) == 0 {
		return cosines, nil
	}
	if s.index != nil {
		n.Cache.Vectors.want(q.search.By.Tenant, missing)
	}
	if err := n.distances(ctx, q, missing, cosines); err != nil {
		return nil, rows.Failed(ctx, "compare by meaning", err)
	}
	return cosines, nil
}

// PiecesOf returns the pieces of items that were found by words.
func (n *PostgresNearest) PiecesOf(ctx context.Context, q Question, s Shortlist, numbers []int64) ([]NearPiece, error) {
	if s.index != nil {
		return s.index.piecesOf(numbers), nil
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	in := rows.Table{Engine: n.meaning.db.Engine, Tenant: q.search.By.Tenant, Table: n.meaning.Tables.pieces, Alias: "m"}
	found := make([][]NearPiece, 1)
	query := rows.LookUp(
		n.meaning.db.NewSelect().ColumnExpr("DISTINCT 0, m.number, m.text_hash"), in, rows.SingleKeys(numbers), "number",
	)
	if err := n.list(ctx, scanSettings, query, found); err != nil {
		return nil, rows.Failed(ctx, "look pieces up", err)
	}
	return found[0], nil
}

// distances compares vectors in the database. It looks each vector up by a subquery, because a join might memoize all
// of them in vain. It compares numbers of full precision, so that the result is the same as in memory.
func (n *PostgresNearest) distances(ctx context.Context, q Question, missing []Hash, into map[Hash]float64) error {
	db := n.meaning.db
	distance := db.NewSelect().TableExpr("? AS v", n.meaning.Tables.Vectors).
		ColumnExpr("v.vector::vector <=> (TABLE question)").
		Where("v.tenant = ?", q.search.By.Tenant).Where("v.text_hash = listed.text_hash")
	query := db.NewRaw(`
		WITH question AS MATERIALIZED (SELECT ?::vector)
		SELECT listed.at, 1 - (?)
		FROM unnest('{?}'::bytea[]) WITH ORDINALITY AS listed (text_hash, at)`,
		pgvector.NewVector(q.vector), distance, bun.Safe(listOf(missing)))
	rows, err := db.QueryContext(ctx, scanSettings+query.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var at int
		var cosine sql.NullFloat64
		if err := rows.Scan(&at, &cosine); err != nil {
			return err
		}
		if cosine.Valid { // otherwise it was erased
			into[missing[at-1]] = cosine.Float64
		}
	}
	return rows.Err()
}

// listOf writes hashes as the members of an array.
func listOf(hashes []Hash) []byte {
	list := make([]byte, 0, len(hashes)*(2*len(Hash{})+len(`,"\\x"`)))
	for i := range hashes {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, `"\\x`...)
		list = hex.AppendEncode(list, hashes[i][:])
		list = append(list, '"')
	}
	return list
}
