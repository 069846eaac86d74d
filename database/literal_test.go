package database_test

import (
	"database/sql"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestLiteralsAreReadBackAsTheyWereWritten(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		read := func(value any, kind string, into any) {
			t.Helper()
			query := "SELECT CAST(" + string(database.AppendLiteral(nil, db.Engine, value)) + " AS " + kind + ")"
			if err := db.QueryRowContext(t.Context(), query).Scan(into); err != nil {
				t.Errorf("read %v back: %v", value, err)
			}
		}
		for _, want := range []string{
			"", "'", "''", `\`, `\'`, `'; DROP TABLE events; --`, "?", "?0 $1 :name", "line\nline\ttab", `"quoted"`, "知识库", "\U0001F4A1", `E'\x27'`,
		} {
			var got string
			read(want, "text", &got)
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			read(&want, "text", &got)
			if got != want {
				t.Errorf("through a pointer: got %q, want %q", got, want)
			}
			read(sql.NullString{String: want, Valid: true}, "text", &got)
			if got != want {
				t.Errorf("of one that may be absent: got %q, want %q", got, want)
			}
		}
		bytes := map[database.Engine]string{database.Postgres: "bytea", database.SQLite: "blob"}[db.Engine]
		for _, want := range [][]byte{{}, {0}, []byte(`\'"`), {0xff, 0x00, 0x27, 0x5c}} {
			var got []byte
			read(want, bytes, &got)
			if !cmp.Equal(append([]byte{}, got...), want) {
				t.Errorf("got %x, want %x", got, want)
			}
		}
		for _, want := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
			var got int64
			read(want, "bigint", &got)
			if got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		}
		for _, want := range []float64{0, 0.1, -1.5, 1e-300, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64} {
			var got float64
			read(want, "double precision", &got)
			if got != want {
				t.Errorf("got %g, want %g", got, want)
			}
		}
		want := database.At(time.Date(2026, 2, 28, 23, 59, 59, 123456789, time.FixedZone("", 3600)))
		var got database.Time
		read(want, map[database.Engine]string{database.Postgres: "timestamptz", database.SQLite: "text"}[db.Engine], &got)
		if !got.Equal(want.Time) {
			t.Errorf("got %s, want %s", got, want)
		}
		for _, none := range []any{(*string)(nil), sql.NullString{}, []byte(nil), database.Time{}} {
			var got *string
			read(none, "text", &got)
			if got != nil {
				t.Errorf("%T: got %q, want NULL", none, *got)
			}
		}
		for _, want := range []bool{true, false} {
			var got bool
			if err := db.QueryRowContext(t.Context(), "SELECT "+string(database.AppendLiteral(nil, db.Engine, want))).Scan(&got); err != nil || got != want {
				t.Errorf("got %t (%v), want %t", got, err, want)
			}
		}
	})
}
