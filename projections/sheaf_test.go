package projections_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
)

func TestASheafIsReadInTheOrderOfTheIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var items []*domain.Knowledge
		var want []projections.Place
		for i := range rapid.IntRange(0, 20).Draw(rt, "items") {
			k := &domain.Knowledge{
				Number: rapid.Int64Range(1, 1<<40).Draw(rt, "number")<<5 | int64(i),
				Scopes: rapid.SliceOfNDistinct(rapid.SampledFrom(scopes), 1, 4, rapid.ID[domain.Scope]).Draw(rt, "scopes"),
				Text:   domain.Text{Content: rapid.StringN(0, 400, -1).Draw(rt, "content")},
			}
			items = append(items, k)
			counts, words := projections.TermsOf(k)
			for _, scope := range k.Scopes {
				want = append(want, projections.Place{Scope: string(scope), Number: k.Number, Count: 1, Words: words})
			}
			for term, count := range counts {
				for _, scope := range k.Scopes {
					want = append(want, projections.Place{Term: term, Scope: string(scope), Number: k.Number, Count: int(count), Words: words})
				}
			}
		}
		slices.SortFunc(want, projections.Place.Compare)
		got, err := projections.ThroughASheaf(items)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			rt.Errorf("places (-got +want):\n%s", diff)
		}
	})
}

// A process may end after any of the transactions in which sheaves are merged: amid the scopes, with the last of
// them, and amid the terms.
func TestAMergeGoesOnWhereItWasBrokenOff(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{1, 20, 30, 45, 60, 100} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			t.Parallel()
			db := databasetest.Open(t, databasetest.SQLite(t)) // PostgreSQL has no sheaves
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := newRebuilding(t, db, projections.Settings{})
			for i := range 30 {
				r.remember(fmt.Sprintf("item-%02d", i), fmt.Sprintf("lesson %d: retry payments with backoff", i), "team:pay", "public")
			}
			projections.SmallSteps(r.Rebuilder, 7, 5)
			r.at("indexing", func() {
				for range 2 {
					if err := projections.MergeSome(t.Context(), r.Rebuilder, r.by.Tenant, 2, rows); err != nil {
						t.Error(err)
					}
				}
				var scopes, terms int
				err := db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM knowledge_2_scopes), (SELECT count(*) FROM knowledge_2_terms)").Scan(&scopes, &terms)
				if want := min(2*rows, 60); err != nil || scopes != want || terms != 2*rows-want {
					t.Errorf("%d scopes and %d terms were merged, want %d and %d: %v", scopes, terms, want, 2*rows-want, err)
				}
			})
			if last := r.run(); last.State != "active" {
				t.Errorf("version %d is %s: %s %+v", last.Version, last.State, last.Error, last.Report)
			}
			if diff := cmp.Diff(folded(r.items()), r.storedIn(2)); diff != "" {
				t.Errorf("tables (-folded +rebuilt):\n%s", diff)
			}
		})
	}
}

func FuzzASheafThatIsNoneIsRefused(f *testing.F) {
	f.Add([]byte{1, 'a', 1, 1, 'b', 1, 1, 1})
	f.Add([]byte{1, 'a', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(_ *testing.T, bytes []byte) {
		_, _ = projections.Unbind(bytes) // must end
	})
}
