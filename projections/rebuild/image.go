package rebuild

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// image is the rows of some items in every table of a version, as column values. A load writes them, and a
// verification compares them without the terms.
type image struct {
	knowledge, scopes, votes, reports [][]any

	terms      []words.TermRow
	unreadable [][]any // rows of the knowledge table that cannot be read, as far as they can be
}

// sort sorts the rows by the keys of their tables, unless they are sorted: neighbours then go to the same page.
func (i *image) sort() {
	slices.SortFunc(i.scopes, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(int64), b[2].(int64)))
	})
	words.SortTerms(i.terms)
	slices.SortFunc(i.votes, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(string), b[2].(string)))
	})
}

// addRows adds all rows of an item except its terms.
func (i *image) addRows(tenant string, k *domain.Knowledge, words int) error {
	if rows.IsLive(k) {
		for _, scope := range k.Scopes {
			i.scopes = append(i.scopes, []any{tenant, string(scope), k.Number, words})
		}
	}
	r := rows.RowOf(tenant, k, words)
	values, err := r.Values()
	if err != nil {
		return fmt.Errorf("%s: %w", k.ID, err)
	}
	i.knowledge = append(i.knowledge, values)
	for _, vote := range k.Votes {
		v := rows.VoteRowOf(tenant, k.ID, vote)
		i.votes = append(i.votes, []any{
			v.Tenant, v.ID, v.EventID, v.Voter, v.Ballot, v.Verdict, v.TraceID, v.Query,
			v.Outcome, v.At,
		})
	}
	for _, report := range k.Reports {
		r := rows.ReportRowOf(tenant, k.ID, report)
		i.reports = append(i.reports, []any{r.Tenant, r.ID, r.Reporter, r.EventID, r.Reason, r.At, r.Suspended})
	}
	return nil
}

// imageOf reads a version's rows of a slice's items, except the terms. It passes packed terms to inBag.
func imageOf(
	ctx context.Context, c *catalogue.Catalogue, tx bun.IDB, v catalogue.Version, s events.Slice, inBag func(term),
) (*image, error) {
	t, i := v.Tables, image{}
	var err error
	if i.knowledge, i.unreadable, err = knowledgeRows(ctx, c, tx, v, s); err != nil {
		return nil, err
	}
	within := func(query *bun.SelectQuery) *bun.SelectQuery { return inSlice(query, s) }
	numbers := within(tx.NewSelect().TableExpr("? AS k", t.Knowledge).Column("number"))
	for _, part := range []struct {
		rows  *[][]any
		query *bun.SelectQuery
		scan  func(*sql.Rows) ([]any, error)
	}{
		{&i.scopes, tx.NewSelect().TableExpr("? AS s", t.Scopes).Column(rows.ScopesColumns...).Column("bag").
			Where("number IN (?)", numbers), scanScope(inBag)},
		{&i.votes, within(tx.NewSelect().TableExpr("? AS v", t.Votes).Column(rows.VotesColumns...)), scanVote},
		{&i.reports, within(tx.NewSelect().TableExpr("? AS r", t.Reports).Column(rows.ReportsColumns...)), scanReport},
	} {
		if *part.rows, err = scanRows(ctx, part.query.Where("tenant = ?", s.Tenant), part.scan); err != nil {
			return nil, rows.Failed(ctx, "read a version", err)
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

func knowledgeRows(
	ctx context.Context, c *catalogue.Catalogue, tx bun.IDB, v catalogue.Version, s events.Slice,
) (all, unreadable [][]any, err error) {
	list, err := c.ViewOf(v, tx).Read(ctx, inSlice(tx.NewSelect().Model((*rows.Row)(nil)).
		ModelTableExpr("? AS k", v.Tables.Knowledge), s))
	if err != nil {
		return nil, nil, rows.Failed(ctx, "read a version", err)
	}
	all = make([][]any, 0, len(list))
	for i := range list {
		values, err := list[i].Values()
		switch {
		case err != nil:
			return nil, nil, err
		case list[i].Broken:
			unreadable = append(unreadable, values)
		default:
			all = append(all, values)
		}
	}
	return all, unreadable, nil
}

func scanRows(
	ctx context.Context, query *bun.SelectQuery, scan func(*sql.Rows) ([]any, error),
) (all [][]any, err error) {
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
		var itsWords int
		var bag words.PackedTerms
		err := rows.Scan(&tenant, &scope, &number, &itsWords, (*[]byte)(&bag))
		bag.Each(func(hash uint64, count int) {
			inBag(term{hash: hash, scope: scope, number: number, count: count, words: itsWords})
		})
		return []any{tenant, scope, number, itsWords}, err
	}
}

func scanVote(list *sql.Rows) ([]any, error) {
	var v rows.VoteRow
	err := list.Scan(&v.Tenant, &v.ID, &v.EventID, &v.Voter, &v.Ballot, &v.Verdict, &v.TraceID, &v.Query,
		&v.Outcome, &v.At)
	return []any{v.Tenant, v.ID, v.EventID, v.Voter, v.Ballot, v.Verdict, v.TraceID, v.Query, v.Outcome, v.At}, err
}

func scanReport(list *sql.Rows) ([]any, error) {
	var r rows.ReportRow
	err := list.Scan(&r.Tenant, &r.ID, &r.Reporter, &r.EventID, &r.Reason, &r.At, &r.Suspended)
	return []any{r.Tenant, r.ID, r.Reporter, r.EventID, r.Reason, r.At, r.Suspended}, err
}

// copyInto inserts an image into a version's tables: by COPY on PostgreSQL, by prepared statements on SQLite.
func copyInto(ctx context.Context, engine database.Engine, tx bun.Tx, t rows.Tables, tenant string, i *image) error {
	for _, part := range []struct {
		table   bun.Ident
		columns []string
		rows    [][]any
	}{
		{t.Knowledge, rows.KnowledgeColumns, i.knowledge},
		{t.Scopes, rows.ScopesColumns, i.scopes},
		{t.Terms, rows.TermsColumns, words.TermValues(tenant, i.terms)},
		{t.Votes, rows.VotesColumns, i.votes},
		{t.Reports, rows.ReportsColumns, i.reports},
	} {
		if len(part.rows) == 0 {
			continue
		}
		if err := copyRows(ctx, engine, tx, string(part.table), part.columns, part.rows); err != nil {
			return fmt.Errorf("copy into %s: %w", part.table, err)
		}
	}
	return nil
}

func copyRows(
	ctx context.Context, engine database.Engine, tx bun.Tx, table string, columns []string, rows [][]any,
) (err error) {
	if engine == database.SQLite {
		return insertRows(ctx, tx, table, columns, rows)
	}
	copying, err := tx.PrepareContext(ctx, pq.CopyIn(table, columns...)) //nolint:staticcheck // the driver's COPY
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copying.Close()) }()
	for _, row := range rows {
		if _, err := copying.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	_, err = copying.ExecContext(ctx)
	return err
}

// insertRows inserts rows on SQLite, many per statement: with a single row, half of the time is overhead of the
// statement.
func insertRows(ctx context.Context, tx bun.Tx, table string, columns []string, rows [][]any) error {
	var script database.Script
	script.Insert(database.SQLite, table+" ("+strings.Join(columns, ", ")+")", "", rows)
	return script.Run(ctx, tx)
}
