package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
)

// List is a list of strings, or of lists of them, as a value of a [Query]: json_each(?) has a row for each.
func List[T string | []string](list []T) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always can
	}
	return string(text)
}

// statement is one without its values: a query, or an insertion of so many rows.
type statement struct {
	text, then string
	rows       int
	shared     int // first values of the rows that are bound once
}

// mostPrepared is how many statements SQLite's writing connection keeps prepared. It needs more only while versions of
// projections change.
const mostPrepared = 200

// prepared is a statement that is given its values apart, in a transaction of [DB.Transact]. On SQLite it is parsed
// once for all transactions, since to parse it takes longer than to run it.
//
// The statement is to run under a context that does not end: the driver would watch the context from a goroutine for
// each. The transaction looks at its own context before it commits.
func prepared(ctx context.Context, tx bun.IDB, s statement) (*sql.Stmt, error) {
	t, transacts := ctx.Value(transacting{}).(*transaction)
	own, isOwn := tx.(bun.Tx)
	if !transacts || !isOwn {
		return nil, errors.New("a prepared statement outside of a transaction")
	}
	if found := t.statements[s]; found != nil {
		return found, nil
	}
	var found *sql.Stmt
	if kept := t.db.prepared[s]; kept != nil {
		found = own.StmtContext(ctx, kept)
	} else {
		var err error
		if found, err = own.PrepareContext(ctx, s.sql()); err != nil {
			return nil, err
		}
	}
	if t.statements == nil {
		t.statements = map[statement]*sql.Stmt{}
	}
	t.statements[s] = found
	return found, nil
}

// keepPrepared prepares on SQLite's writing connection, which no transaction has now, what a transaction has used.
// Statements that cannot be prepared any more are not kept.
func (db *DB) keepPrepared(ctx context.Context, t *transaction) {
	for s := range t.statements {
		if db.prepared[s] != nil {
			continue
		}
		if len(db.prepared) >= mostPrepared {
			for _, kept := range db.prepared {
				_ = kept.Close() // it only frees memory
			}
			db.prepared = nil
		}
		if db.prepared == nil {
			db.prepared = map[statement]*sql.Stmt{}
		}
		if kept, err := db.writers.DB.PrepareContext(ctx, s.sql()); err == nil { //nolint:sqlclosecheck // it is kept
			db.prepared[s] = kept
		}
	}
}

// sql is the text of the statement.
func (s statement) sql() string {
	if s.rows == 0 {
		return s.text
	}
	row := "("
	for i := range 1 + strings.Count(s.text, ",") {
		if i > 0 {
			row += ", "
		}
		row += "?"
		if i < s.shared {
			row += strconv.Itoa(i + 1)
		}
	}
	row += ")"
	return Insertion(SQLite) + s.text + "\nVALUES " + row + strings.Repeat(",\n"+row, s.rows-1) + s.then
}
