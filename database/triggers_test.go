package database_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestTriggersThatWereTakenAwayAreMadeAsTheyWere(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		if err := database.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		made := `SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`
		away := []string{
			"DROP TRIGGER events_append_only", "DROP TRIGGER events_append_only_delete", "DROP TRIGGER event_texts_append_only",
			"DROP TRIGGER event_texts_erased", "DROP TRIGGER tree_append_only", "DROP TRIGGER signed_checkpoints_append_only",
		}
		if db.Engine == database.Postgres {
			made = `SELECT pg_get_triggerdef(oid) || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname`
			away = []string{
				"DROP TRIGGER events_append_only ON events", "DROP TRIGGER event_texts_erased ON event_texts",
				"DROP TRIGGER event_texts_append_only ON event_texts", "DROP TRIGGER signed_checkpoints_append_only ON signed_checkpoints",
				"ALTER TABLE tree DISABLE TRIGGER tree_append_only",
			}
		}
		var before, after []string
		if err := db.NewRaw(made).Scan(t.Context(), &before); err != nil {
			t.Fatal(err)
		}
		for _, statement := range away {
			if err := transact(t, db, statement); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []int{len(away), 0} {
			restored, err := database.RestoreTriggers(t.Context(), db)
			if err != nil || len(restored) != want {
				t.Errorf("got %v, %v; want %d restored", restored, err, want)
			}
		}
		if err := db.NewRaw(made).Scan(t.Context(), &after); err != nil {
			t.Fatal(err)
		}
		for _, list := range [][]string{before, after} {
			for i := range list {
				list[i] = trimSemicolon(list[i])
			}
			slices.Sort(list)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the triggers are others now (-before +after):\n%s", diff)
		}
	})
}

func trimSemicolon(s string) string {
	if n := len(s); n > 0 && s[n-1] == ';' {
		return s[:n-1]
	}
	return s
}
