package database

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// Time is a time as both engines store it: in UTC, to the microsecond, and in a text form that sorts by time. The
// zero Time is NULL in SQL and null in JSON.
type Time struct{ time.Time }

var (
	_ driver.Valuer    = Time{}
	_ sql.Scanner      = (*Time)(nil)
	_ json.Marshaler   = Time{}
	_ json.Unmarshaler = (*Time)(nil)
)

const timeLayout = "2006-01-02T15:04:05.000000Z"

// At is t as the database stores it.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Microsecond)}
}

func (t Time) String() string { return At(t.Time).Format(timeLayout) }

// Value is text that PostgreSQL reads as timestamptz and SQLite stores unchanged.
func (t Time) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	return t.String(), nil
}

// Scan reads a time from either driver.
func (t *Time) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*t = Time{}
	case time.Time:
		*t = At(v)
	case string:
		return t.parse(v)
	case []byte:
		return t.parse(string(v))
	default:
		return fmt.Errorf("scan a moment from %T", value)
	}
	return nil
}

func (t *Time) parse(text string) error {
	var firstErr error
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07",
	} {
		parsed, err := time.Parse(layout, text)
		if err == nil {
			*t = At(parsed)
			return nil
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	return fmt.Errorf("scan a moment: %w", firstErr)
}

// MarshalJSON writes RFC 3339 with six decimals, or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON reads any RFC 3339 time, or null.
func (t *Time) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		*t = Time{}
		return nil
	}
	var parsed time.Time
	if err := json.Unmarshal(text, &parsed); err != nil {
		return fmt.Errorf("read a moment: %w", err)
	}
	*t = At(parsed)
	return nil
}
