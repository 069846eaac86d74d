package backup

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
)

// computed matches the tables that a server computes from the others, or that describe only a running one.
var computed = regexp.MustCompile(`^(backup|schema_migrations|leases|projections|rebuild_slices|spaces)$|_\d+(_[a-z]+)?$`)

// kept selects the rows of a table. Checkpoints of projections that are computed anew are left out.
var kept = map[string]string{"checkpoints": ofOthers, "quarantine": ofOthers}

const ofOthers = " WHERE projection NOT LIKE 'knowledge%' AND projection NOT LIKE 'meaning%' " +
	"AND projection NOT LIKE 'past%'"

// Digest describes the rows of a table, in any order.
type Digest struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // of each row, as JSON, added modulo 2
}

type table struct {
	name    string
	columns []string
}

// tablesOf are the tables of a SQLite database that a backup has.
func tablesOf(ctx context.Context, db database.Querier) ([]table, error) {
	var all []table
	err := database.ForEach(ctx, db, func(rows *sql.Rows) error {
		var name, column string
		if err := rows.Scan(&name, &column); err != nil || computed.MatchString(name) {
			return err
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, table{name: name})
		}
		of := &all[len(all)-1]
		of.columns = append(of.columns, column)
		return nil
	}, `SELECT m.name, c.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table' ORDER BY m.name, c.cid`)
	return all, err
}

// read reads a table in the form that SQLite stores, and passes each row to take, which may keep it.
func (t table) read(ctx context.Context, from database.Querier, take func(row []any) error) (d Digest, err error) {
	var sum [sha256.Size]byte
	var binary []bool
	err = database.ForEach(ctx, from, func(rows *sql.Rows) error {
		if binary == nil {
			types, err := rows.ColumnTypes()
			if err != nil {
				return err
			}
			for _, is := range types {
				binary = append(binary, slices.Contains([]string{"BLOB", "BYTEA"}, is.DatabaseTypeName()))
			}
		}
		row, into := make([]any, len(t.columns)), make([]any, len(t.columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i := range row {
			row[i] = asStored(row[i], binary[i])
		}
		encoded, err := json.Marshal(row)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(encoded)
		subtle.XORBytes(sum[:], sum[:], hash[:])
		d.Rows++
		return take(row)
	}, "SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name+kept[t.name]+" ORDER BY 1, 2")
	d.SHA256 = hex.EncodeToString(sum[:])
	return d, err
}

// asStored is the value that SQLite stores for that of either engine.
func asStored(value any, binary bool) any {
	switch v := value.(type) {
	case nil:
		return []byte(nil)
	case []byte:
		if !binary {
			return string(v)
		}
	case time.Time:
		return database.At(v).String()
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	}
	return value
}

const (
	batchRows  = 1000
	batchBytes = 4 << 20
)

// copyTables copies tables, and tells progress, which may be nil, about how many rows it has copied. write runs each
// script in a transaction.
func copyTables(
	ctx context.Context, tables []table, from database.Querier, to database.Engine, progress func(rows int64),
	write func(*database.Script) error,
) (map[string]Digest, error) {
	rows, digests := int64(0), map[string]Digest{}
	for _, t := range tables {
		d, err := t.copyTo(ctx, from, to, func(script *database.Script) error {
			if rows += batchRows; progress != nil {
				progress(rows)
			}
			return write(script)
		})
		if err != nil {
			return nil, err
		}
		digests[t.name] = d
	}
	return digests, nil
}

// copyTo copies a table. write runs each script in a transaction.
func (t table) copyTo(
	ctx context.Context, from database.Querier, to database.Engine, write func(*database.Script) error,
) (Digest, error) {
	var rows [][]any
	size := 0
	flush := func() error {
		var script database.Script
		script.Insert(to, t.name+" ("+strings.Join(t.columns, ", ")+")", "", rows)
		rows, size = nil, 0
		return write(&script)
	}
	d, err := t.read(ctx, from, func(row []any) error {
		for i := range row {
			switch v := row[i].(type) {
			case int64:
				if to == database.Postgres { // a quoted number is a boolean, too
					row[i] = strconv.FormatInt(v, 10)
				}
			case string:
				size += len(v)
			case []byte:
				size += len(v)
			}
		}
		if rows = append(rows, row); len(rows) == batchRows || size > batchBytes {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return d, fmt.Errorf("copy %s: %w", t.name, err)
	}
	return d, nil
}
