package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// written is everything that remembering one item inserts, table by table: what the references insert as well.
type written []rows

type rows struct {
	table   string
	columns []string
	values  [][]any // of text on PostgreSQL
}

// tables are those that remembering writes, each with the column that has the item's position in the log.
var tables = []struct{ name, position string }{
	{"events", "position"},
	{"event_texts", "position"},
	{"knowledge_1", "number"},
	{"knowledge_1_scopes", "number"},
	{"knowledge_1_terms", "number"},
}

// sample lets the product remember a few items, and reads back what it wrote.
func sample(ctx context.Context, engine database.Engine, items int) (samples []written, about map[string]string, err error) {
	db, _, away, err := bench.Fresh(ctx, engine)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, away()) }()
	if about, err = bench.Describe(ctx, db); err != nil {
		return nil, nil, err
	}
	samples, err = readSamples(ctx, db, items)
	return samples, about, err
}

// emptyTables is a database with the product's own tables, without any rows. It is closed; away removes it.
func emptyTables(ctx context.Context, engine database.Engine) (address string, away func() error, err error) {
	db, address, away, err := bench.Fresh(ctx, engine)
	if err != nil {
		return "", nil, err
	}
	_, err = projections.Open(ctx, db, projections.Settings{})
	if err = errors.Join(err, db.Close()); err != nil {
		return "", nil, errors.Join(err, away())
	}
	return address, away, nil
}

func readSamples(ctx context.Context, db *database.DB, items int) ([]written, error) {
	base, err := projections.Open(ctx, db, projections.Settings{})
	if err != nil {
		return nil, err
	}
	log := events.NewLog(db, base, events.Options{})
	author := newAuthor(1)
	var samples []written
	for i := range items {
		submission, err := author.write().command(fmt.Sprintf("sample-%d", i))
		if err != nil {
			return nil, errors.Join(err, log.Close(ctx))
		}
		receipt, err := log.Submit(ctx, submission)
		if err != nil {
			return nil, errors.Join(err, log.Close(ctx))
		}
		sample, err := readSample(ctx, db, receipt.Position)
		if err != nil {
			return nil, errors.Join(err, log.Close(ctx))
		}
		samples = append(samples, sample)
	}
	return samples, log.Close(ctx)
}

func readSample(ctx context.Context, db *database.DB, position int64) (written, error) {
	var all written
	for _, table := range tables {
		r := rows{table: table.name}
		columns, err := columnsOf(ctx, db, table.name)
		if err != nil {
			return nil, err
		}
		r.columns = columns
		list := strings.Join(columns, ", ")
		if db.Engine == database.Postgres {
			list = strings.Join(columns, "::text, ") + "::text"
		}
		r.values, err = readRows(ctx, db, "SELECT "+list+" FROM "+table.name+" WHERE "+table.position+" = "+strconv.FormatInt(position, 10), len(columns))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func readRows(ctx context.Context, db *database.DB, query string, columns int) (rows [][]any, err error) {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		values := make([]any, columns)
		into := make([]any, columns)
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		rows = append(rows, values)
	}
	return rows, found.Err()
}

func columnsOf(ctx context.Context, db *database.DB, table string) (columns []string, err error) {
	none, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, none.Err(), none.Close()) }()
	return none.Columns()
}
