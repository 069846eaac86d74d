package search

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// CandidateRow is what ranking needs to know of an item.
type CandidateRow struct {
	Number     int64
	ID         string
	Scopes     []domain.Scope
	confidence float64
	Position   int64
}

// candidateColumns are selected in the order in which candidateScan scans them, at a time.
const candidateColumns = "k.id, k.scopes, " + rows.ConfidenceAt + ", k.position"

// candidateScan scans what may be missing, because the item did not pass.
type candidateScan struct {
	id         sql.NullString
	scopes     sql.RawBytes
	confidence sql.NullFloat64
	position   sql.NullInt64
}

// row is the item that was scanned.
func (r *candidateScan) row(number int64) (CandidateRow, error) {
	s := CandidateRow{Number: number, ID: r.id.String, confidence: r.confidence.Float64, Position: r.position.Int64}
	var err error
	if s.Scopes, err = readScopes(r.scopes); err != nil {
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
func (p Request) candidateRows(ctx context.Context, s domain.Search, numbers []int64) ([]CandidateRow, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	in := rows.Table{Engine: p.DB.Engine, Tenant: s.By.Tenant, Table: p.Tables.Knowledge, Alias: "k", Condition: rows.Live}
	query := rows.LookUp(p.From.NewSelect().ColumnExpr("k.number, "+candidateColumns, database.At(p.Now())), in, rows.SingleKeys(numbers), "number")
	selected, err := p.Where(query, s.By.Tenant, s.Filter).Rows(ctx)
	if err != nil {
		return nil, rows.Failed(ctx, "read candidates", err)
	}
	defer selected.Close()
	list := make([]CandidateRow, 0, len(numbers))
	var number int64
	var row candidateScan
	into := []any{&number, &row.id, &row.scopes, &row.confidence, &row.position}
	var broken []string
	for selected.Next() {
		err := selected.Scan(into...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found, unreadable := row.row(number)
		if err != nil || unreadable != nil {
			broken = append(broken, found.ID)
			continue
		}
		list = append(list, found)
	}
	p.LogUnreadable(ctx, broken)
	if err := selected.Err(); err != nil {
		return nil, rows.Failed(ctx, "read candidates", err)
	}
	return list, nil
}
