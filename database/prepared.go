package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
)

// List encodes a list of strings, or of lists, as one value of a [Query]: json_each(?) has a row for each.
func List[T string | []string](list []T) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always can
	}
	return string(text)
}

// statement is a statement without its values: a query, or an insertion of a number of rows.
type statement struct {
	text, then string
	rows       int
	shared     int // number of leading values that the rows share and bind once
}

// mostPrepared limits the statements that SQLite's writing connection keeps prepared. It needs more only while
// versions of projections change.
const mostPrepared = 200

var errNoTransaction = errors.New("a prepared statement outside of a transaction")

// prepared is a statement for separate values, in a transaction of [DB.Transact]. SQLite parses it once for all
// transactions, since parsing takes longer than running it.
//
// Run the statement under a context that does not end: the driver would start a goroutine for each call to watch it.
// The transaction checks its own context before it commits.
func prepared(ctx context.Context, tx bun.IDB, s statement) (*sql.Stmt, error) {
	t, transacts := ctx.Value(transacting{}).(*transaction)
	own, isOwn := tx.(bun.Tx)
	if !transacts || !isOwn {
		return nil, errNoTransaction
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

// keepPrepared prepares the statements of an ended transaction on SQLite's writing connection. It drops statements
// that can no longer be prepared.
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
	values := slices.Repeat([]string{"?"}, 1+strings.Count(s.text, ","))
	for i := range s.shared {
		values[i] += strconv.Itoa(i + 1)
	}
	row := "(" + strings.Join(values, ", ") + ")"
	return Insertion(SQLite) + s.text + "\nVALUES " + row + strings.Repeat(",\n"+row, s.rows-1) + s.then
}
