package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/annals-kb/annals/database"
)

// plainSQLite is a SQLite database as anybody would use it: the product's settings, statements that are prepared once,
// and a transaction for every request.
type plainSQLite struct {
	pool    *sql.DB
	turn    sync.Mutex // one connection writes
	samples []written
	into    []*sql.Stmt // a statement per table
	row     *sql.Stmt   // one plain insert
	next    int64
}

// plainSQLites are the ways to give SQLite a row, or the same rows.
func plainSQLites(samples []written) []way {
	contend := func(do func(*plainSQLite, context.Context) error) func(context.Context) (*contender, error) {
		return func(ctx context.Context) (*contender, error) {
			address, away, err := emptyTables(ctx, database.SQLite)
			if err != nil {
				return nil, err
			}
			p, err := openPlainSQLite(ctx, address, samples)
			if err != nil {
				return nil, errors.Join(err, away())
			}
			return &contender{
				run: func(ctx context.Context, clients int, length time.Duration) (outcome, error) {
					return p.run(ctx, clients, length, func(ctx context.Context) error { return do(p, ctx) })
				},
				cpu:   func() time.Duration { return processTime(os.Getpid()) },
				close: func() error { return errors.Join(p.pool.Close(), away()) },
			}, nil
		}
	}
	return []way{
		{name: "one plain insert a transaction", target: 2, open: contend((*plainSQLite).one)},
		{name: "the same inserts a transaction", open: contend((*plainSQLite).same)},
	}
}

func openPlainSQLite(ctx context.Context, address string, samples []written) (*plainSQLite, error) {
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16000)", "busy_timeout(5000)",
	}}
	pool, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(address, "sqlite:")+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	p := &plainSQLite{pool: pool, samples: samples}
	if _, err := pool.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS plain (id INTEGER PRIMARY KEY, content TEXT NOT NULL) STRICT"); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	if p.row, err = pool.PrepareContext(ctx, "INSERT INTO plain (id, content) VALUES (?, ?)"); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	for _, r := range samples[0] {
		if err := p.prepare(ctx, r); err != nil {
			return nil, errors.Join(err, pool.Close())
		}
	}
	return p, nil
}

// prepare makes a statement that inserts one row, which lives as long as the pool.
func (p *plainSQLite) prepare(ctx context.Context, r rows) error {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(r.columns)), ", ")
	into, err := p.pool.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", r.table, strings.Join(r.columns, ", "), marks)) //nolint:sqlclosecheck // its pool closes it
	p.into = append(p.into, into)
	return err
}

func (p *plainSQLite) run(ctx context.Context, clients int, length time.Duration, do func(context.Context) error) (outcome, error) {
	return keepDoing(ctx, clients, length, func() (func(int64) error, func() error, error) {
		return func(int64) error {
			p.turn.Lock()
			defer p.turn.Unlock()
			p.next++
			return do(ctx)
		}, func() error { return nil }, nil
	})
}

// one inserts a row with a text, and nothing else: SQLite commits it by itself.
func (p *plainSQLite) one(ctx context.Context) error {
	_, err := p.row.ExecContext(ctx, p.next, p.content())
	return err
}

func (p *plainSQLite) content() any {
	knowledge := p.samples[p.next%int64(len(p.samples))][2]
	return knowledge.values[0][slices.Index(knowledge.columns, "content")]
}

// same inserts everything that remembering an item inserts.
func (p *plainSQLite) same(ctx context.Context) error {
	tx, err := p.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i, r := range p.samples[p.next%int64(len(p.samples))] {
		if err := p.insert(ctx, tx, p.into[i], r); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (p *plainSQLite) insert(ctx context.Context, tx *sql.Tx, into *sql.Stmt, r rows) (err error) {
	statement := tx.StmtContext(ctx, into)
	defer func() { err = errors.Join(err, statement.Close()) }()
	for _, values := range r.values {
		if _, err := statement.ExecContext(ctx, p.renewed(r, values)...); err != nil {
			return err
		}
	}
	return nil
}

// renewed is a row unlike that of any other transaction.
func (p *plainSQLite) renewed(r rows, values []any) []any {
	values = slices.Clone(values)
	for i, column := range r.columns {
		switch column {
		case "position", "number":
			values[i] = p.next
		case "event_id":
			values[i] = fmt.Sprintf("%036x", p.next)
		case "stream":
			values[i] = fmt.Sprintf("knowledge:item-%d", p.next)
		case "id":
			values[i] = fmt.Sprintf("item-%d", p.next)
		case "uri":
			values[i] = fmt.Sprintf("viking://user/default/memories/item-%d.md", p.next)
		}
	}
	return values
}
