package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
)

// QueryPrepared asks a query whose values are given apart from it, each a ?, in a transaction of [DB.Transact]. On
// SQLite it is then parsed once for all transactions, which takes longer than to answer it; so it is for
// queries that are asked with every append, and whose text is always the same. On PostgreSQL it takes a round
// trip more than a query that is complete with its values.
func QueryPrepared(ctx context.Context, tx bun.IDB, query string, values ...any) (*sql.Rows, error) {
	return unformatted(tx).QueryContext(ctx, query, values...)
}

// List is a list of strings, or of lists of them, as a value of such a query: json_each(?) has a row for each.
func List[T string | []string](list []T) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always can
	}
	return string(text)
}

// unformatted is a transaction that does not write values into statements by itself, as bun does.
func unformatted(tx bun.IDB) executor {
	if own, isOwn := tx.(bun.Tx); isOwn {
		return own.Tx
	}
	return tx
}

type executor interface {
	Querier
	ExecContext(ctx context.Context, query string, values ...any) (sql.Result, error)
}

// cachingConn is a connection of SQLite's driver that keeps the statements prepared which are given their values
// apart: to parse one takes longer than to run it.
type cachingConn struct {
	sqliteConn
	cache  map[shape]cachedStatement
	values []driver.NamedValue // of the insertion under way
}

// shape is a statement without its values: a query, or an insertion of so many rows.
type shape struct {
	text, then string
	rows       int
	shared     int // how many values that rows begin with are the same in all of them, and are given once
}

// cachedStatements is how many statements are kept. There are more only while versions of projections change.
const cachedStatements = 200

// sqliteConn is what the connections of the driver can do.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// cachedStatement is what the driver's statements can do.
type cachedStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

var (
	_ sqliteConn               = (*cachingConn)(nil)
	_ driver.NamedValueChecker = (*cachingConn)(nil)
)

// cachingConnector makes the connections of another connector keep their statements.
type cachingConnector struct{ driver.Connector }

func (k cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &cachingConn{sqliteConn: conn.(sqliteConn), cache: map[shape]cachedStatement{}}, nil
}

// CheckNamedValue implements [driver.NamedValueChecker]: rows to insert are for this connection to take apart.
func (k *cachingConn) CheckNamedValue(value *driver.NamedValue) error {
	if _, isInsertion := value.Value.(insertion); isInsertion {
		return nil
	}
	return driver.ErrSkip
}

// QueryContext implements [driver.QueryerContext].
func (k *cachingConn) QueryContext(ctx context.Context, query string, values []driver.NamedValue) (driver.Rows, error) {
	if len(values) == 0 {
		return k.sqliteConn.QueryContext(ctx, query, nil)
	}
	asked := shape{text: query}
	statement, err := k.take(ctx, asked)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(undisturbed(ctx), values)
	if err != nil {
		return nil, errors.Join(err, k.put(asked, statement))
	}
	return &cachedRows{Rows: rows, done: func() error { return k.put(asked, statement) }}, nil
}

// cachedRows are those of a statement that is kept when they were read.
type cachedRows struct {
	driver.Rows
	done func() error
}

func (r *cachedRows) Close() error { return errors.Join(r.Rows.Close(), r.done()) }

// ExecContext implements [driver.ExecerContext].
func (k *cachingConn) ExecContext(
	ctx context.Context, query string, values []driver.NamedValue,
) (driver.Result, error) {
	if len(values) == 1 {
		if rows, isInsertion := values[0].Value.(insertion); isInsertion {
			return driver.ResultNoRows, k.insert(ctx, rows)
		}
	}
	return k.sqliteConn.ExecContext(ctx, query, values)
}

// insert inserts rows by statements of a few sizes, each half the one before.
func (k *cachingConn) insert(ctx context.Context, i insertion) error {
	defer func() { clear(k.values) }()
	rows := i.rows
	for size := mostRows(len(rows[0])); size > 0; size /= 2 {
		for len(rows) >= size {
			shared := alike(rows[:size])
			k.values = k.values[:0]
			for at, row := range rows[:size] {
				if at > 0 {
					row = row[shared:]
				}
				for _, value := range row {
					k.values = append(k.values, driver.NamedValue{Ordinal: len(k.values) + 1, Value: driverValue(value)})
				}
			}
			if err := k.run(ctx, shape{i.into, i.then, size, shared}, k.values); err != nil {
				return err
			}
			rows = rows[size:]
		}
	}
	return nil
}

// mostShared is how many values rows are looked at for: each number of them is a statement of its own.
const mostShared = 3

// alike tells with how many words all rows begin alike, as those of one tenant do. Most of an index of terms
// is a few terms that are everywhere, one after the other in each place.
func alike(rows [][]any) int {
	first, rest := rows[0], rows[1:]
	if len(rest) == 0 {
		return 0
	}
	for column := range min(mostShared, len(first)-1) {
		word, isWord := first[column].(string)
		if !isWord {
			return column
		}
		for _, row := range rest {
			if other, isWord := row[column].(string); !isWord || other != word {
				return column
			}
		}
	}
	return min(mostShared, len(first)-1)
}

// mostRows is how many rows of so many columns one statement inserts: a power of two. More are not faster.
func mostRows(columns int) int {
	const values, most = 700, 64
	size := most
	for size > 1 && size*columns > values {
		size /= 2
	}
	return size
}

func (k *cachingConn) run(ctx context.Context, s shape, values []driver.NamedValue) error {
	statement, err := k.take(ctx, s)
	if err != nil {
		return err
	}
	_, err = statement.ExecContext(undisturbed(ctx), values)
	return errors.Join(err, k.put(s, statement))
}

// undisturbed lets a statement that is kept come to its end, though ctx may not last: the driver would watch
// ctx from a goroutine for each, and none of them takes as long as that is worth. The transaction looks at ctx
// before it commits.
func undisturbed(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// take takes a statement from those that are kept, or prepares it.
func (k *cachingConn) take(ctx context.Context, s shape) (cachedStatement, error) {
	if statement, isCached := k.cache[s]; isCached {
		delete(k.cache, s)
		return statement, nil
	}
	prepared, err := k.PrepareContext(ctx, s.statement())
	if err != nil {
		return nil, err
	}
	return prepared.(cachedStatement), nil
}

// statement is the SQL of a shape.
func (s shape) statement() string {
	if s.rows == 0 {
		return s.text
	}
	_, columns, _ := strings.Cut(s.text, "(")
	marks := make([]string, strings.Count(columns, ",")+1)
	for at := range marks {
		marks[at] = "?"
		if at < s.shared {
			marks[at] = fmt.Sprintf("?%d", at+1)
		}
	}
	row := "(" + strings.Join(marks, ", ") + ")"
	return Insertion(SQLite) + s.text + "\nVALUES " + row + strings.Repeat(",\n"+row, s.rows-1) + s.then
}

// put keeps a statement that has ended.
func (k *cachingConn) put(s shape, statement cachedStatement) error {
	if len(k.cache) >= cachedStatements {
		if err := k.forget(); err != nil {
			return err
		}
	}
	if _, another := k.cache[s]; another {
		return statement.Close()
	}
	k.cache[s] = statement
	return nil
}

func (k *cachingConn) forget() error {
	var errs []error
	for s, statement := range k.cache {
		errs = append(errs, statement.Close())
		delete(k.cache, s)
	}
	return errors.Join(errs...)
}

// Close implements [driver.Conn].
func (k *cachingConn) Close() error { return errors.Join(k.forget(), k.sqliteConn.Close()) }
