package projections_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

// tablesOf lists the tables of a version that are there.
func (r *rebuilding) tablesOf(version int) []string {
	r.t.Helper()
	return slices.DeleteFunc(r.tables(), func(name string) bool {
		rest, found := strings.CutPrefix(name, fmt.Sprintf("knowledge_%d", version))
		return !found || rest != "" && rest[0] != '_'
	})
}

func (r *rebuilding) purgeAfter(d time.Duration) {
	r.t.Helper()
	r.clock.forward(d)
	noError(r.t, r.base.DropRetired(r.t.Context()))
}

func TestTablesThatNobodyUsesAreDroppedAfterAWhile(t *testing.T) {
	eachRebuilding(t, func(t *testing.T, r *rebuilding) {
		for i := range 300 {
			r.remember(fmt.Sprint("item-", i), fmt.Sprintf("lesson %d: retry with backoff", i), "team:pay")
		}
		want := func(when string, versions ...int) {
			t.Helper()
			var kept []int
			for version := range 6 {
				if len(r.tablesOf(version)) > 0 {
					kept = append(kept, version)
				}
			}
			if got, want := fmt.Sprint(kept), fmt.Sprint(versions); got != want {
				t.Errorf("%s: there are tables of the versions %s, want %s", when, got, want)
			}
		}
		r.run()
		r.purgeAfter(time.Hour)
		want("while the first version is kept for a rollback", 1, 2)

		r.run()
		r.purgeAfter(time.Second)
		want("just after the second switch", 1, 2, 3)
		r.purgeAfter(10 * time.Second) // retires the first
		r.purgeAfter(10 * time.Second)
		want("before a reader must have finished", 1, 2, 3)
		r.purgeAfter(time.Minute)
		want("when nobody can read it any more", 2, 3)

		r.at("verifying", func() { r.corrupt("DELETE FROM knowledge_4_scopes") })
		r.run()
		r.purgeAfter(time.Second)
		want("just after a rebuild failed", 2, 3, 4)
		r.purgeAfter(time.Minute)
		want("a while after a rebuild failed", 2, 3)

		noError(t, r.base.Retire(t.Context()))
		if _, err := r.base.Rollback(t.Context()); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("rolling back to what was retired: got %v", err)
		}
		r.purgeAfter(time.Minute)
		want("after the way back was given up", 3)
		if got := r.tablesOf(3); len(got) != 5 {
			t.Errorf("the active version has the tables %v, want five", got)
		}
		if found := r.find(domain.Search{Text: "backoff"}); len(found) != 10 {
			t.Errorf("found %v, want ten", found)
		}
	})
}
