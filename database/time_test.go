package database_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

type moment struct {
	bun.BaseModel `bun:"table:moments"`

	ID   int64         `bun:"id,pk"`
	At   database.Time `bun:"at"`
	Then database.Time `bun:"then"`
}

func TestATimeComesBackAsTheMomentItWas(t *testing.T) {
	t.Parallel()
	shanghai := time.FixedZone("CST", 8*60*60)
	written := time.Date(2026, 3, 1, 7, 8, 9, 123_456_789, shanghai)
	want := time.Date(2026, 2, 28, 23, 8, 9, 123_456_000, time.UTC)

	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		column := map[database.Engine]string{database.Postgres: "timestamptz", database.SQLite: "TEXT"}[db.Engine]
		mustTransact(t, db, `CREATE TABLE moments (id bigint PRIMARY KEY, at `+column+` NOT NULL, "then" `+column+`)`)
		row := moment{ID: 1, At: database.At(written)}
		err := db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewInsert().Model(&row).Exec(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}

		var got moment
		err = db.NewSelect().Model(&got).Where("at = ?", database.At(written)).Where(`"then" IS NULL`).Scan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.At.Time != want {
			t.Errorf("got %v, want %v", got.At.Time, want)
		}
		if !got.Then.IsZero() {
			t.Errorf("got %v, want the zero time from NULL", got.Then)
		}

		var after int
		if err := db.NewRaw(`SELECT count(*) FROM moments WHERE at > ?`, database.At(want.Add(-time.Microsecond))).Scan(t.Context(), &after); err != nil {
			t.Fatal(err)
		}
		if after != 1 {
			t.Error("moments do not compare as they happened")
		}
	})
}

func TestATimeIsReadFromWhatDriversReturn(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 2, 28, 23, 8, 9, 123_456_000, time.UTC)
	for _, value := range []any{
		want.In(time.FixedZone("CST", 8*60*60)),
		"2026-02-28T23:08:09.123456Z",
		"2026-03-01T07:08:09.123456789+08:00",
		"2026-02-28 23:08:09.123456+00",
		"2026-03-01 04:38:09.123456+05:30",
		[]byte("2026-02-28T23:08:09.123456Z"),
	} {
		var got database.Time
		if err := got.Scan(value); err != nil || got.Time != want {
			t.Errorf("%v: got %v, %v, want %v", value, got.Time, err, want)
		}
	}
	for _, value := range []any{"yesterday", 7, []byte{}} {
		var got database.Time
		if err := got.Scan(value); err == nil {
			t.Errorf("%v: got %v and no error", value, got)
		}
	}
}

func TestATimeInJSONHasSixDecimals(t *testing.T) {
	t.Parallel()
	type document struct {
		At      database.Time `json:"at"`
		Never   database.Time `json:"never"`
		Omitted database.Time `json:"omitted,omitzero"`
	}
	text, err := json.Marshal(document{At: database.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(text), `{"at":"2026-01-02T03:04:05.000000Z","never":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var got document
	if err := json.Unmarshal([]byte(`{"at":"2026-01-02T11:04:05.0000009+08:00","never":null}`), &got); err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); got.At.Time != want || !got.Never.IsZero() {
		t.Errorf("got %v and %v, want %v and zero", got.At, got.Never, want)
	}
}

func FuzzATimeSurvivesItsText(f *testing.F) {
	f.Add(int64(0), int64(1))
	f.Add(int64(1_772_319_289), int64(123_456_789))
	f.Fuzz(func(t *testing.T, seconds, nanoseconds int64) {
		want := database.At(time.Unix(seconds%100_000_000_000, nanoseconds))
		if want.Year() < 0 || want.Year() > 9999 {
			return // no text of this form has room for it
		}
		value, err := want.Value()
		if err != nil {
			t.Fatal(err)
		}
		var got database.Time
		if err := got.Scan(value); err != nil || got.Time != want.Time {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	})
}
