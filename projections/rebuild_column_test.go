package projections_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

func TestANewColumnIsBuiltVerifiedAndWritten(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		lived(t, db, projections.Settings{})
		r := newRebuilding(t, db, projections.WithTitle(projections.Settings{}))
		stands := func(version int, id, title string, voices int64) {
			t.Helper()
			var got struct {
				Title  string `bun:"title"`
				Voices int64  `bun:"voices"`
			}
			err := r.db.NewRaw(fmt.Sprintf("SELECT title, voices FROM knowledge_%d WHERE id = ?", version), id).Scan(t.Context(), &got)
			if err != nil || got.Title != title || got.Voices != voices {
				t.Errorf("version %d has %+v of %s (%v), want %q and %d", version, got, id, err, title, voices)
			}
		}
		// Until then the version before is written as it always was.
		r.remember("before", "before the rebuild", "team:pay")

		r.at("catching_up", func() { r.remember("during", "during it\nand more", "team:pay") })
		last := r.run()
		r.at("catching_up", nil)
		if last.State != "active" || !slices.Equal(last.Report.Intended, []string{"title", "voices"}) {
			t.Fatalf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
		}
		if got := last.Report.Changed; len(got) != 2 || got["title"] != 14 || got["voices"] != 14 {
			t.Errorf("got %v changed, want both columns of all 14 items", got)
		}
		stands(2, "before", "before the rebuild", 1)
		stands(2, "during", "during it", 1)
		stands(2, "item-3", "lesson 3: retry payments with backoff", 2)

		// Both versions are written, by the same fold, in every way that an item changes.
		content := "revised\ntwice"
		r.submit(domain.Revise{Target: domain.Target{By: r.by, ID: "during"}, Changes: domain.Revised{Content: &content}})
		r.helped("during", "t9")
		stands(2, "during", "revised", 2)
		if _, err := r.base.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.helped("during", "t10")
		stands(2, "during", "revised", 3)
		if _, err := r.base.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last = r.run(); last.State != "active" || len(last.Report.Changed) > 0 {
			t.Errorf("rebuilt once more, version %d is %s with %+v", last.Version, last.State, last.Report)
		}
		stands(3, "during", "revised", 3)
	})
}

// What is not what the column should say is seen, and so is whatever else differs.
func TestANewColumnExcusesNothingElse(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		lived(t, db, projections.Settings{})
		r := newRebuilding(t, db, projections.WithTitle(projections.Settings{}))
		r.at("verifying", func() { r.corrupt("UPDATE knowledge_2 SET title = 'forged' WHERE id = 'item-3'") })
		r.refused("item item-3: in knowledge not what the log says: title")
		r.at("verifying", nil)
		r.corrupt("UPDATE knowledge_1 SET helpful = 99 WHERE id = 'item-1'")
		if report := r.refused(""); report.Changed["helpful"] != 1 {
			t.Errorf("got %v changed, want one item's votes", report.Changed)
		}
	})
}

// A release that does not know a column cannot write the version, and says so instead of writing half of it.
func TestAVersionWithAColumnThatIsNotKnownIsForeign(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := lived(t, db, projections.WithTitle(projections.Settings{}))
		r.helped("item-1", "t7")
		if _, err := projections.Open(t.Context(), db, projections.Settings{}); err == nil {
			t.Error("a release that lacks a column of the active version serves")
		}
	})
}
