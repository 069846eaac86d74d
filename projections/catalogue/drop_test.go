package catalogue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/rebuild"
)

func TestVersionsThatWereDroppedAreNotShown(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, w *Rebuilding) {
		w.Remember("one", "what the log says", "team:pay")
		rebuilds := rebuild.Rebuilds{Rebuilder: w.Rebuilder}
		w.During("verifying", func(ctx context.Context) { <-ctx.Done() })
		Must(rebuilds.Start(t.Context(), "knowledge", domain.RebuildOrder{}))(t)
		ended, err := rebuilds.Cancel(t.Context(), "knowledge")
		if err != nil || ended.State != "retired" || ended.Error != "cancelled" || ended.Progress != nil {
			t.Errorf("got %+v (%v), want it cancelled", ended, err)
		}
		Equal(t, w.States(), []string{"1 active", "2 retired"}, "versions (-got +want)")
		w.Clock.Forward(time.Hour)
		NoError(t, w.Base.Versions.DropRetired(t.Context()))
		Equal(t, w.States(), []string{"1 active"}, "after the dropped version is gone (-got +want)")
		if last, err := rebuilds.Last(t.Context(), "knowledge"); err != nil || last.Error != "cancelled" {
			t.Errorf("got %+v (%v), want what became of it still known", last, err)
		}
	})
}

func TestTablesThatNobodyUsesAreDroppedAfterAWhile(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, r *Rebuilding) {
		r.RememberMany(300, "lesson %d: retry with backoff")
		want := func(when string, versions ...int) {
			t.Helper()
			var kept []int
			for version := range 6 {
				if len(r.TablesOf(version)) > 0 {
					kept = append(kept, version)
				}
			}
			if got, want := fmt.Sprint(kept), fmt.Sprint(versions); got != want {
				t.Errorf("%s: there are tables of the versions %s, want %s", when, got, want)
			}
		}
		r.Run()
		r.PurgeAfter(time.Hour)
		want("while the first version is kept for a rollback", 1, 2)

		r.Run()
		r.PurgeAfter(time.Second)
		want("just after the second switch", 1, 2, 3)
		r.PurgeAfter(10 * time.Second) // retires the first
		r.PurgeAfter(10 * time.Second)
		want("before a reader must have finished", 1, 2, 3)
		r.PurgeAfter(time.Minute)
		want("when nobody can read it any more", 2, 3)

		r.At("verifying", func() { r.Corrupt("DELETE FROM knowledge_4") })
		r.Run()
		r.PurgeAfter(time.Second)
		want("just after a rebuild failed", 2, 3, 4)
		r.PurgeAfter(time.Minute)
		want("a while after a rebuild failed", 2, 3)

		NoError(t, r.Base.Versions.Retire(t.Context()))
		if _, err := r.Base.Versions.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolling back to what was retired: got %v", err)
		}
		r.PurgeAfter(time.Minute)
		want("after the way back was given up", 3)
		if got := r.TablesOf(3); len(got) != 5 {
			t.Errorf("the active version has the tables %v, want five", got)
		}
		if found := r.Find(domain.Search{Text: "backoff"}); len(found) != 10 {
			t.Errorf("found %v, want ten", found)
		}
	})
}
