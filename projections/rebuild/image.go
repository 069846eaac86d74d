package rebuild

import (
	"cmp"
	"context"
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
// verification compares them, except the changes.
type image struct {
	knowledge, changes, votes, reports [][]any
}

// imageTable is a table whose rows a verification compares.
type imageTable struct {
	name    string
	columns []string
	rows    [][]any
}

func (i *image) tables() []imageTable {
	return []imageTable{
		{"knowledge", rows.KnowledgeColumns, i.knowledge},
		{"votes", rows.VotesColumns, i.votes},
		{"reports", rows.ReportsColumns, i.reports},
	}
}

// sort sorts the rows by the keys of their tables, unless they are sorted: neighbours then go to the same page.
func (i *image) sort() {
	slices.SortFunc(i.votes, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(string), b[2].(string)))
	})
}

// addRows adds all rows of an item. The index of words is made of the changes later.
func (i *image) addRows(tenant string, k *domain.Knowledge, terms words.ItemTerms) error {
	if rows.IsLive(k) {
		now := words.Entry{ItemTerms: terms, Sets: words.SetsOf(k)}.Encode()
		i.changes = append(i.changes, []any{tenant, k.Number, k.Version, []byte(nil), now})
	}
	r := rows.RowOf(tenant, k, terms.Words)
	values, err := r.Values(rows.KnowledgeColumns)
	if err != nil {
		return err
	}
	i.knowledge = append(i.knowledge, values)
	for _, vote := range k.Votes {
		i.votes = append(i.votes, rows.VoteRowOf(tenant, k.ID, vote).Values())
	}
	for _, report := range k.Reports {
		i.reports = append(i.reports, rows.ReportRowOf(tenant, k.ID, report).Values())
	}
	return nil
}

// imageOf reads a version's rows of a slice's items, except the index of words.
func imageOf(
	ctx context.Context, c *catalogue.Catalogue, tx bun.IDB, v catalogue.Version, s events.Slice,
) (*image, error) {
	i, after, through := &image{}, itemOf(s.After), itemOf(s.Through)
	within := func(query *bun.SelectQuery, alias string, table rows.Source) *bun.SelectQuery {
		return query.ModelTableExpr("? AS ?", table, bun.Ident(alias)).
			Where("tenant = ?", s.Tenant).Where("id > ?", after).Where("id <= ?", through)
	}
	list, err := c.ViewOf(v, tx).Read(ctx, within(rows.Select(tx), "k", v.Tables.Knowledge))
	for n := range list {
		values, err := list[n].Values(rows.KnowledgeColumns)
		if err != nil {
			return nil, err
		}
		i.knowledge = append(i.knowledge, readable(values, list[n].Broken))
	}
	if err == nil {
		err = rows.ScanEach(ctx, c.DB.DB, within(tx.NewSelect().Model((*rows.VoteRow)(nil)), "v", v.Tables.Votes),
			func(r *rows.VoteRow, unreadable error) {
				i.votes = append(i.votes, readable(r.Values(), unreadable != nil))
			})
	}
	if err == nil {
		err = rows.ScanEach(ctx, c.DB.DB, within(tx.NewSelect().Model((*rows.ReportRow)(nil)), "r", v.Tables.Reports),
			func(r *rows.ReportRow, unreadable error) {
				i.reports = append(i.reports, readable(r.Values(), unreadable != nil))
			})
	}
	if err != nil {
		return nil, rows.Failed(ctx, "read a version", err)
	}
	return i, nil
}

// readable cuts a row that cannot be read to its key, which it has at least.
func readable(row []any, isBroken bool) []any {
	if isBroken {
		return row[:3]
	}
	return row
}

func itemOf(stream string) string {
	id, _ := domain.ItemOf(stream)
	return id
}

// copyInto inserts an image into a version's tables: by COPY on PostgreSQL, by prepared statements on SQLite.
func copyInto(ctx context.Context, engine database.Engine, tx bun.Tx, t rows.Tables, i *image) error {
	for _, part := range []struct {
		table   rows.Source
		columns []string
		rows    [][]any
	}{
		{t.Knowledge, rows.KnowledgeColumns, i.knowledge},
		{t.Changes, rows.ChangesColumns, i.changes},
		{t.Votes, rows.VotesColumns, i.votes},
		{t.Reports, rows.ReportsColumns, i.reports},
	} {
		if len(part.rows) == 0 {
			continue
		}
		if err := copyRows(ctx, engine, tx, string(part.table.Name), part.columns, part.rows); err != nil {
			return fmt.Errorf("copy into %s: %w", part.table.Name, err)
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
