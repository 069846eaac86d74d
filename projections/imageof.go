package projections

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// imageOf reads what a version's tables hold about the items of a slice, all but the terms. Those that
// lie in bags are handed to inBag.
func (p *Knowledge) imageOf(ctx context.Context, tx bun.IDB, v version, s events.Slice, inBag func(term)) (*image, error) {
	t, i := v.tables, image{}
	var err error
	if i.knowledge, i.unreadable, err = p.knowledgeRows(ctx, tx, v, s); err != nil {
		return nil, err
	}
	within := func(query *bun.SelectQuery) *bun.SelectQuery { return inSlice(query, s) }
	numbers := within(tx.NewSelect().TableExpr("? AS k", t.knowledge).Column("number"))
	for _, part := range []struct {
		rows  *[][]any
		query *bun.SelectQuery
		scan  func(*sql.Rows) ([]any, error)
	}{
		{&i.scopes, tx.NewSelect().TableExpr("? AS s", t.scopes).Column(scopesColumns...).Column("bag").Where("number IN (?)", numbers), scanScope(inBag)},
		{&i.votes, within(tx.NewSelect().TableExpr("? AS v", t.votes).Column(votesColumns...)), scanVote},
		{&i.reports, within(tx.NewSelect().TableExpr("? AS r", t.reports).Column(reportsColumns...)), scanReport},
	} {
		if *part.rows, err = scanRows(ctx, part.query.Where("tenant = ?", s.Tenant), part.scan); err != nil {
			return nil, p.failed(ctx, "read a version", err)
		}
	}
	return &i, nil
}

// inSlice narrows a query to the ids of a slice's items.
func inSlice(query *bun.SelectQuery, s events.Slice) *bun.SelectQuery {
	after, _ := domain.ItemOf(s.After)
	through, _ := domain.ItemOf(s.Through)
	return query.Where("tenant = ?", s.Tenant).Where("id > ?", after).Where("id <= ?", through)
}

func (p *Knowledge) knowledgeRows(ctx context.Context, tx bun.IDB, v version, s events.Slice) (all, unreadable [][]any, err error) {
	rows, err := p.readRows(ctx, inSlice(tx.NewSelect().Model((*row)(nil)).ModelTableExpr("? AS k", v.tables.knowledge), s))
	if err != nil {
		return nil, nil, p.failed(ctx, "read a version", err)
	}
	all = make([][]any, 0, len(rows))
	for i := range rows {
		values, err := rows[i].values()
		switch {
		case err != nil:
			return nil, nil, err
		case rows[i].broken:
			unreadable = append(unreadable, values)
		default:
			all = append(all, values)
		}
	}
	return all, unreadable, nil
}

func scanRows(ctx context.Context, query *bun.SelectQuery, scan func(*sql.Rows) ([]any, error)) (all [][]any, err error) {
	rows, err := query.Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		values, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, values)
	}
	return all, rows.Err()
}

func scanScope(inBag func(term)) func(*sql.Rows) ([]any, error) {
	return func(rows *sql.Rows) ([]any, error) {
		var tenant, scope string
		var number int64
		var words int
		var bag packedTerms
		err := rows.Scan(&tenant, &scope, &number, &words, (*[]byte)(&bag))
		bag.each(func(hash uint64, count int) {
			inBag(term{hash: hash, scope: scope, number: number, count: count, words: words})
		})
		return []any{tenant, scope, number, words}, err
	}
}

func scanVote(rows *sql.Rows) ([]any, error) {
	var v voteRow
	err := rows.Scan(&v.Tenant, &v.ID, &v.EventID, &v.Voter, &v.Ballot, &v.Verdict, &v.TraceID, &v.Query, &v.Outcome, &v.At)
	return []any{v.Tenant, v.ID, v.EventID, v.Voter, v.Ballot, v.Verdict, v.TraceID, v.Query, v.Outcome, v.At}, err
}

func scanReport(rows *sql.Rows) ([]any, error) {
	var r reportRow
	err := rows.Scan(&r.Tenant, &r.ID, &r.Reporter, &r.EventID, &r.Reason, &r.At, &r.Suspended)
	return []any{r.Tenant, r.ID, r.Reporter, r.EventID, r.Reason, r.At, r.Suspended}, err
}
