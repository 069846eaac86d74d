package projections

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// candidateRow is what ranking needs to know of an item.
type candidateRow struct {
	number     int64
	id         string
	scopes     []domain.Scope
	confidence float64
	position   int64
}

// candidateColumns are selected in the order in which candidateScan scans them, at a time.
const candidateColumns = "k.id, k.scopes, " + confidenceAt + ", k.position"

// confidenceAt is an item's confidence at the time ?0.
const confidenceAt = "CASE WHEN k.confirm_until <= ?0 THEN k.expired_confidence ELSE k.confidence END"

// candidateScan scans what may be missing, because the item did not pass.
type candidateScan struct {
	id         sql.NullString
	scopes     sql.RawBytes
	confidence sql.NullFloat64
	position   sql.NullInt64
}

func (r *candidateScan) targets() []any { return []any{&r.id, &r.scopes, &r.confidence, &r.position} }

// row is the item that was scanned.
func (r *candidateScan) row(number int64) (candidateRow, error) {
	s := candidateRow{number: number, id: r.id.String, confidence: r.confidence.Float64, position: r.position.Int64}
	var err error
	if s.scopes, err = readScopes(r.scopes); err != nil {
		return s, fmt.Errorf("read scopes: %w", err)
	}
	return s, nil
}

// readScopes reads a list of scopes, in whose names nothing is escaped.
func readScopes(list []byte) (scopes []domain.Scope, err error) {
	if bytes.IndexByte(list, '\\') >= 0 || len(list) < 2 || list[0] != '[' || list[len(list)-1] != ']' {
		err = json.Unmarshal(list, &scopes)
		return scopes, err
	}
	scopes = make([]domain.Scope, 0, 2)
	for part := range bytes.SplitSeq(list[1:len(list)-1], []byte{','}) {
		if name := bytes.Trim(part, "\" \n\t"); len(name) > 0 {
			scopes = append(scopes, domain.Scope(name))
		}
	}
	return scopes, nil
}

// candidateRows looks items up by number; those that do not pass the search's filter are left out. What was
// forgotten may still have vectors for a moment, and can be asked for by status.
func (p *Knowledge) candidateRows(ctx context.Context, s domain.Search, numbers []int64) ([]candidateRow, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	in := lookupTable{engine: p.db.Engine, tenant: s.By.Tenant, table: p.tables().knowledge, alias: "k", condition: isLive}
	query := lookUp(p.reads.NewSelect().ColumnExpr("k.number, "+candidateColumns, database.At(p.now())), in, singleKeys(numbers), "number")
	rows, err := p.where(query, s.By.Tenant, s.Filter).Rows(ctx)
	if err != nil {
		return nil, p.failed(ctx, "read candidates", err)
	}
	defer rows.Close()
	list := make([]candidateRow, 0, len(numbers))
	var number int64
	var row candidateScan
	into := append([]any{&number}, row.targets()...)
	var broken []string
	for rows.Next() {
		err := rows.Scan(into...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found, unreadable := row.row(number)
		if err != nil || unreadable != nil {
			broken = append(broken, found.id)
			continue
		}
		list = append(list, found)
	}
	p.logUnreadable(ctx, broken)
	if err := rows.Err(); err != nil {
		return nil, p.failed(ctx, "read candidates", err)
	}
	return list, nil
}
