package projections_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

func TestADatabaseThatLacksAColumnSaysWhatHelps(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		r.remember("item", "retry with backoff", "team:pay")
		openPast := func() {
			t.Helper()
			must(projections.OpenPast(t.Context(), r.base, r.log))(t)
		}
		complete := func(want string) {
			t.Helper()
			err := r.base.Complete(t.Context())
			if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		openPast()
		complete("")

		databasetest.Tamper(t, r.db, "DROP VIEW knowledge", "ALTER TABLE knowledge_1 DROP COLUMN relations",
			"DROP TABLE knowledge_1_terms")
		complete("the database lacks knowledge_1.relations, knowledge_1_terms: run annals rebuild knowledge --repair")
		r.switches(domain.RebuildOrder{Repair: true})
		complete("")

		databasetest.Tamper(t, r.db, "ALTER TABLE past_1 DROP COLUMN tag_bits", "DROP TABLE past_1_words")
		complete("the database lacks past_1.tag_bits, past_1_words: restart annals serve, which makes these tables again")
		openPast()
		complete("")

		databasetest.Tamper(t, r.db, "ALTER TABLE checkpoints DROP COLUMN quarantines")
		complete("the database lacks checkpoints.quarantines: put a backup back, as described in docs/backup.md#restore")
		databasetest.Tamper(t, r.db, "UPDATE schema_migrations SET version = version - 1")
		if err := r.base.Complete(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": run annals migrate") {
			t.Errorf("got %v, want the command that migrates", err)
		}
	})
}
