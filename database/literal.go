package database

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Insertion begins an INSERT in a transaction that is rolled back on failure. SQLite then need not keep a journal for
// undoing the statement alone.
func Insertion(engine Engine) string {
	if engine == SQLite {
		return "INSERT OR FAIL INTO "
	}
	return "INSERT INTO "
}

// AppendRow appends a tuple of SQL literals: (…, …). The query builder of bun uses reflection, which takes longer per
// row than the database.
func AppendRow(b []byte, engine Engine, values []any) []byte {
	b = append(b, '(')
	for i, value := range values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = AppendLiteral(b, engine, value)
	}
	return append(b, ')')
}

// AppendLiteral appends a value as an SQL literal: a string, a number, bytes, a boolean or a time; NULL if there is
// none. It panics at other types.
func AppendLiteral(b []byte, engine Engine, value any) []byte {
	switch v := value.(type) {
	case string:
		return AppendString(b, v)
	case *string:
		if v == nil {
			return append(b, "NULL"...)
		}
		return AppendString(b, *v)
	case sql.NullString:
		if !v.Valid {
			return append(b, "NULL"...)
		}
		return AppendString(b, v.String)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float32:
		return strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case []byte:
		return appendBytes(b, engine, v)
	case bool:
		return strconv.AppendBool(b, v)
	case Time:
		if v.IsZero() {
			return append(b, "NULL"...)
		}
		return AppendString(b, v.String())
	}
	panic(fmt.Sprintf("database: %T is no value of a row", value))
}

// appendBytes appends bytes in hexadecimal; nil is NULL.
func appendBytes(b []byte, engine Engine, bytes []byte) []byte {
	switch {
	case bytes == nil:
		return append(b, "NULL"...)
	case engine == Postgres:
		b = append(b, `'\x`...)
	default:
		b = append(b, "X'"...)
	}
	return append(hex.AppendEncode(b, bytes), '\'')
}

// AppendString appends a string literal. Neither engine treats a backslash in it specially.
func AppendString(b []byte, s string) []byte {
	b = append(b, '\'')
	for {
		quote := strings.IndexByte(s, '\'')
		if quote < 0 {
			break
		}
		b = append(b, s[:quote]...)
		b = append(b, "''"...)
		s = s[quote+1:]
	}
	b = append(b, s...)
	return append(b, '\'')
}
