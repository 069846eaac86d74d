package browse_test

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestCountsAreThoseOfTheItemsThatOneMaySee(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Fill(NewCorpus(3), 60)
		w.RememberOddly()
		items, yes := w.Items(), true
		everything := 0
		for name, filter := range map[string]domain.Filter{
			"all": {}, "a type": {Types: []domain.Type{domain.Tool}}, "stale": {Stale: &yes}, "contested": {Contested: &yes},
			"a scope": {Scope: "team:pay"}, "superseded": {Statuses: []domain.Status{domain.IsSuperseded}},
			"deleted": {Statuses: []domain.Status{domain.IsDeleted, domain.Active}}, "a tag": {Tags: domain.Tags{"a": nil}},
		} {
			for _, by := range []domain.Principal{w.By, As("user:alice", "team:pay"), As("user:nobody")} {
				got := Must(w.Base.Browser.Count(t.Context(), by, filter))(t)
				want := domain.Counts{Complete: true, Since: got.Since}
				types, owners, scopes, tags := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
				statuses, categories := map[string]int{}, map[string]int{}
				for _, k := range items {
					ofAny := filter
					ofAny.Statuses = append(slices.Clone(filter.Statuses), domain.Active, domain.IsSuperseded)
					if !by.MaySee(k) || !Passes(k, ofAny) {
						continue
					}
					statuses[string(k.Status)]++
					if !Passes(k, filter) {
						continue
					}
					want.Items++
					everything++
					types[string(k.Type)]++
					owners[string(k.Owner)]++
					categories[string(k.Category)]++
					for _, scope := range k.Scopes {
						scopes[string(scope)]++
					}
					for key, values := range k.Text.Tags {
						for _, value := range values {
							tags[strings.TrimPrefix(key+":"+value, domain.Labels+":")]++
						}
					}
					want.Confidence[min(int(k.Confidence*10), 9)]++
					for _, flag := range []struct {
						is bool
						n  *int
					}{
						{k.Stale.Reporters > 0, &want.Stale},
						{k.Rating().Contested(), &want.Contested},
						{!k.ConfirmedAt.IsZero() && k.Stale.Reporters == 0, &want.Confirmed},
						{judged(k, domain.Helpful), &want.Helpful},
					} {
						if flag.is {
							*flag.n++
						}
					}
				}
				want.Types, want.Owners, want.Scopes, want.Tags = facet(types), facet(owners), facet(scopes), facet(tags)
				want.Statuses, want.Categories = facet(statuses), facet(categories)
				ofScopes := map[string]domain.ScopeCounts{}
				for _, of := range got.ByScope {
					ofScopes[of.Scope] = of
				}
				for scope, of := range wantByScope(items, by, filter) {
					if got := ofScopes[scope]; math.Abs(got.Confidence-of.Confidence) < 1e-9 {
						of.Confidence = got.Confidence // but for the order of the sum
					}
					Equal(t, ofScopes[scope], of, "%s, as %s, in %s (-got +want)", name, by.Subject, scope)
					delete(ofScopes, scope)
				}
				Equal(t, len(ofScopes), 0, "%s, as %s: other scopes", name, by.Subject)
				got.ByScope = nil
				Equal(t, got, want, "%s, as %s (-got +want)", name, by.Subject)
			}
		}
		if everything < 100 {
			t.Errorf("%d items were counted: too few to tell anything", everything)
		}
	})
}

// wantByScope counts the items that pass by each of their scopes.
func wantByScope(items map[string]*domain.Knowledge, by domain.Principal, filter domain.Filter) map[string]domain.ScopeCounts {
	all := map[string]domain.ScopeCounts{}
	for _, k := range items {
		if !by.MaySee(k) || !Passes(k, filter) {
			continue
		}
		for _, scope := range k.Scopes {
			of := all[string(scope)]
			of.Scope = string(scope)
			of.Confidence = (of.Confidence*float64(of.Items) + k.Confidence) / float64(of.Items+1)
			of.Items++
			if k.Stale.Reporters > 0 {
				of.Stale++
			}
			if k.Rating().Contested() {
				of.Contested++
			}
			if !k.ConfirmedAt.IsZero() && k.Stale.Reporters == 0 {
				of.Confirmed++
			}
			all[string(scope)] = of
		}
	}
	return all
}

func facet(counts map[string]int) (f domain.Facet) {
	delete(counts, "")
	for value, n := range counts {
		f.Counts = append(f.Counts, domain.Count{Value: value, Items: n})
	}
	slices.SortFunc(f.Counts, func(a, b domain.Count) int {
		return cmp.Or(b.Items-a.Items, strings.Compare(a.Value, b.Value))
	})
	if f.More = len(f.Counts) > 20; f.More {
		f.Counts = f.Counts[:20]
	}
	return f
}

func TestManyItemsAreCountedUpToALimit(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.RememberMany(7, "something")
		for _, by := range []domain.Principal{w.By, As("user:alice", "team:pay")} {
			for most, complete := range map[int64]bool{6: false, 7: true} {
				w.Base.Browser.MostCounted = most
				if got := Must(w.Base.Browser.Count(t.Context(), by, domain.Filter{}))(t); got.Items != int(most) || got.Complete != complete {
					t.Errorf("%s: %d items of 7 with a limit of %d, complete: %v", by.Subject, got.Items, most, got.Complete)
				}
			}
		}
	})
}

func TestCountsKnowTheTimeAndWhatWasUsed(t *testing.T) {
	EachAt(t, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), func(t *testing.T, w *World, now *time.Time) {
		w.RememberMany(4, "something")
		target := func(i string) domain.Target { return domain.Target{By: w.By, ID: "item-" + i} }
		w.Submit(domain.ReportStale{Target: target("0")})
		w.Submit(domain.Confirm{Target: target("0"), Until: now.AddDate(0, 1, 0)})
		w.Submit(domain.Confirm{Target: target("1")})
		w.Submit(domain.GiveFeedback{Target: target("2"), Verdict: domain.Helpful, Day: *now})
		look := func(by domain.Principal) (is [6]int) {
			t.Helper()
			c := Must(w.Base.Browser.Count(t.Context(), by, domain.Filter{}))(t)
			if is = [6]int{c.Stale, c.Expired, c.Confirmed, c.Helpful, -1, c.Items}; c.Unused != nil {
				is[4] = *c.Unused
			}
			return is
		}
		Equal(t, look(w.By), [6]int{0, 0, 2, 1, -1, 4}, "at first (-got +want)")
		*now = now.AddDate(0, 2, 0)
		Equal(t, look(w.By), [6]int{1, 1, 1, 0, -1, 4}, "two months later (-got +want)")
		NoError(t, w.DB.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO item_uses (tenant, number, uses, used_at)
				VALUES ('default', 4, 1, '2026-03-02T09:00:00.000000Z')`)
			return err
		}))
		Equal(t, look(w.By), [6]int{1, 1, 1, 0, 2, 4}, "with a recorded read (-got +want)")
		Equal(t, look(As("user:alice", "team:pay")), [6]int{1, 1, 1, 0, -1, 4}, "a member does not learn of it (-got +want)")
	})
}

func TestASortedListHasEveryItemOnceInItsOrder(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Fill(NewCorpus(7), 60)
		w.Base.Browser.MostCounted = 100
		items := w.Items()
		keys := map[domain.Sort]func(k *domain.Knowledge) float64{
			domain.ByUpdate:     func(k *domain.Knowledge) float64 { return float64(k.UpdatedAt.UnixMicro()) },
			domain.ByConfidence: func(k *domain.Knowledge) float64 { return math.Round(k.Confidence * 1e6) },
			domain.ByHarm:       func(k *domain.Knowledge) float64 { return float64(k.Harmful) },
			domain.ByStaleness:  func(k *domain.Knowledge) float64 { return float64(k.Stale.Reporters) },
		}
		for _, sort := range domain.Sorts {
			for _, by := range []domain.Principal{w.By, As("user:alice", "team:pay")} {
				for _, ascending := range []bool{false, true} {
					var got, want []string
					list := domain.List{By: by, Sort: sort, Ascending: ascending, Limit: 7}
					for {
						page := Must(w.Base.Browser.List(t.Context(), list))(t)
						for _, k := range page.Items {
							got = append(got, k.ID)
						}
						if list.Before, list.Key = page.Next, page.Key; page.Next == 0 {
							break
						}
					}
					for _, k := range slices.SortedFunc(maps.Values(items), func(a, b *domain.Knowledge) int {
						order := cmp.Or(cmp.Compare(keys[sort](a), keys[sort](b)), cmp.Compare(a.Number, b.Number))
						if ascending {
							return order
						}
						return -order
					}) {
						if by.MaySee(k) && Passes(k, domain.Filter{}) {
							want = append(want, k.ID)
						}
					}
					Equal(t, got, want, "%s, ascending %v, as %s (-got +want)", sort, ascending, by.Subject)
				}
			}
		}
		w.Base.Browser.MostCounted = 3
		page := Must(w.Base.Browser.List(t.Context(), domain.List{By: w.By, Sort: domain.ByConfidence}))(t)
		newest := Must(w.Base.Browser.List(t.Context(), domain.List{By: w.By, Limit: 3}))(t)
		Equal(t, slices.Sorted(slices.Values(IDsOf(page))), slices.Sorted(slices.Values(IDsOf(newest))), "sorted of the newest (-got +want)")
	})
}

// judged tells whether a vote of this kind counts.
func judged(k *domain.Knowledge, verdict domain.Verdict) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(k.Votes)), func(v domain.Vote) bool { return v.Verdict == verdict })
}
