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

// slim is what ranking needs to know of an item.
type slim struct {
	number     int64
	id         string
	scopes     []domain.Scope
	confidence float64
	position   int64
}

// slimColumns are selected in the order in which slimRow scans them, at a time.
const slimColumns = "k.id, k.scopes, " + confidenceThen + ", k.position"

// confidenceThen is an item's confidence at the time ?0.
const confidenceThen = "CASE WHEN k.confirm_until <= ?0 THEN k.expired_confidence ELSE k.confidence END"

// slimRow scans what may be missing, because the item did not pass.
type slimRow struct {
	id         sql.NullString
	scopes     sql.RawBytes
	confidence sql.NullFloat64
	position   sql.NullInt64
}

func (r *slimRow) into() []any { return []any{&r.id, &r.scopes, &r.confidence, &r.position} }

// slim is the item that was scanned.
func (r *slimRow) slim(number int64) (slim, error) {
	s := slim{number: number, id: r.id.String, confidence: r.confidence.Float64, position: r.position.Int64}
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

// slims looks items up by number; those that do not pass the search's filter are left out. What was
// forgotten may still have vectors for a moment, and can be asked for by status.
func (p *Knowledge) slims(ctx context.Context, s domain.Search, numbers []int64) ([]slim, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	in := place{engine: p.db.Engine, tenant: s.By.Tenant, table: p.tables().knowledge, alias: "k", condition: isLive}
	query := lookUp(p.reads.NewSelect().ColumnExpr("k.number, "+slimColumns, database.At(p.now())), in, singly(numbers), "number")
	rows, err := p.where(query, s.By.Tenant, s.Filter).Rows(ctx)
	if err != nil {
		return nil, p.failed(ctx, "read candidates", err)
	}
	defer rows.Close()
	list := make([]slim, 0, len(numbers))
	var number int64
	var row slimRow
	into := append([]any{&number}, row.into()...)
	var broken []string
	for rows.Next() {
		err := rows.Scan(into...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found, unreadable := row.slim(number)
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
