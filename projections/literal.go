package projections

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/database"
)

// appendRow appends a tuple of SQL literals: (…, …).
func appendRow(b []byte, engine database.Engine, values []any) []byte {
	b = append(b, '(')
	for i, value := range values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendLiteral(b, engine, value)
	}
	return append(b, ')')
}

// appendLiteral appends a value of those that rows are made of.
func appendLiteral(b []byte, engine database.Engine, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendQuoted(b, v)
	case *string:
		if v == nil {
			return append(b, "NULL"...)
		}
		return appendQuoted(b, *v)
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
	case database.Time:
		if v.IsZero() {
			return append(b, "NULL"...)
		}
		return appendQuoted(b, v.String())
	}
	panic(fmt.Sprintf("projections: no row holds a %T", value))
}

// appendBytes appends bytes in hexadecimal; nil is NULL.
func appendBytes(b []byte, engine database.Engine, bytes []byte) []byte {
	switch {
	case bytes == nil:
		return append(b, "NULL"...)
	case engine == database.Postgres:
		b = append(b, `'\x`...)
	default:
		b = append(b, "X'"...)
	}
	return append(hex.AppendEncode(b, bytes), '\'')
}

// appendQuoted appends a string literal. Neither engine gives a backslash a meaning in one.
func appendQuoted(b []byte, s string) []byte {
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

// appendElement appends an element of a PostgreSQL array's text form, within a string literal.
func appendElement(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch s[i] {
		case '"', '\\':
			b = append(b, '\\')
		case '\'':
			b = append(b, '\'')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
