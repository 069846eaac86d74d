package rows_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestEveryFilterPassesWhatItSays(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Fill(NewCorpus(3), 60)
		w.RememberOddly()
		w.Understand()
		items := w.Items()
		tried, passed := 0, 0
		all := filters(items)
		for i, name := range slices.Sorted(maps.Keys(all)) {
			filter := all[name]
			if testing.Short() && i%3 > 0 {
				continue
			}
			var listed, searched []string
			for _, k := range slices.SortedFunc(maps.Values(items), newestFirst) {
				if Passes(k, filter) {
					listed = append(listed, k.ID)
				}
				if Passes(k, filter) && IsLive(k) {
					searched = append(searched, k.ID)
				}
			}
			tried, passed = tried+1, passed+len(listed)
			Equal(t, w.List(domain.List{By: w.By, Filter: filter, Limit: 100}), listed,
				"%s: list with %+v (-got +want)", name, filter)
			found := w.Find(domain.Search{Text: "payment 支付", Filter: filter, Limit: 100, MinScore: new(float64)})
			Equal(t, slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(searched)),
				"%s: search with %+v (-got +want)", name, filter)
		}
		if tried < 60 || passed < tried {
			t.Errorf("%d filters passed %d items: too few to tell anything", tried, passed)
		}
	})
}

// TestAListOfAScopeHasWhatThePrincipalMaySeeOfIt asks for scopes that one belongs to and for others.
func TestAListOfAScopeHasWhatThePrincipalMaySeeOfIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Fill(NewCorpus(5), 60)
		items := w.Items()
		member := As("user:alice", "team:pay")
		all := 0
		for _, by := range []domain.Principal{w.By, member} {
			for _, scope := range []domain.Scope{"user:alice", "team:pay", "org:acme", domain.Public, "user:nobody"} {
				for _, statuses := range [][]domain.Status{
					nil,
					{domain.IsSuperseded, domain.Active},
					{domain.IsDeleted},
					{domain.IsDeleted, domain.Active},
				} {
					filter := domain.Filter{Scope: scope, Statuses: statuses}
					var want []string
					for _, k := range slices.SortedFunc(maps.Values(items), newestFirst) {
						if Passes(k, filter) && by.MaySee(k) {
							want = append(want, k.ID)
						}
					}
					all += len(want)
					Equal(t, want, w.List(domain.List{By: by, Filter: filter, Limit: 3}),
						"%s lists %s, %v (-want +got)", by.Subject, scope, statuses)
				}
			}
		}
		if all < 60 {
			t.Errorf("%d items were listed: too few to tell anything", all)
		}
	})
}

// filters are filters by each field that some items pass, and some that none does.
func filters(items map[string]*domain.Knowledge) map[string]domain.Filter {
	all := map[string]domain.Filter{
		"nothing":     {},
		"no such tag": {Tags: domain.Tags{"none": nil}},
		"every status": {Statuses: []domain.Status{
			domain.Active, domain.IsSuperseded, domain.IsDeleted, domain.IsErased,
		}},
		"deleted in a scope": {Statuses: []domain.Status{domain.IsDeleted}, Scope: "user:alice"},
		"a team's or nobody": {Owner: "team:pay", Statuses: []domain.Status{domain.IsDeleted, domain.Active}},
		"an empty time":      {CreatedFrom: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a like pattern":     {URIPrefix: "viking://%"},
		"abstracts":          {Levels: []domain.Level{domain.Abstract}},
		"short texts":        {Levels: []domain.Level{domain.Abstract, domain.Overview}},
		"details":            {Levels: []domain.Level{domain.Detail}},
		"every level":        {Levels: []domain.Level{domain.Abstract, domain.Detail, domain.Overview}},
		"both tags":          {Also: []domain.Tags{{"a": {"a"}}, {"a": {"b"}}}},
		"one of them":        {Also: []domain.Tags{{"a": {"a", "none"}}}, Tags: domain.Tags{"b": nil}},
		"one is missing":     {Also: []domain.Tags{{"a": {"a"}}, {"a": {"none"}}}},
	}
	for i, id := range slices.Sorted(maps.Keys(items)) {
		if i%10 > 0 && i > 3 {
			continue
		}
		for name, condition := range ConditionsMetBy(items[id]) {
			filter := domain.Filter{}
			condition(&filter)
			all[fmt.Sprint(name, " of ", id)] = filter
		}
		contested, confidence := items[id].Rating().Contested(), items[id].Confidence
		all["contested as "+id] = domain.Filter{Contested: &contested}
		all["of the confidence of "+id] = domain.Filter{MinConfidence: &confidence, MaxConfidence: &confidence}
		all["created before "+id] = domain.Filter{CreatedTo: items[id].CreatedAt}
		all["updated before "+id] = domain.Filter{UpdatedTo: items[id].UpdatedAt}
	}
	return all
}

func newestFirst(a, b *domain.Knowledge) int { return int(b.Number - a.Number) }

// TestASearchEndsThoughOnePlaceHasGivenAllThatItHas asks for what few pass, where one of two places is nearly empty.
func TestASearchEndsThoughOnePlaceHasGivenAllThatItHas(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		hers := domain.Search{
			Text: "indentation", Context: domain.Context{Given: true, Entities: []domain.Entity{"user:alice", "org:acme"}},
			Filter: domain.Filter{Owner: "user:alice"}, MinScore: new(float64),
		}
		w.Know("hers", domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "user:alice", Scopes: []domain.Scope{"user:alice"},
			Text: domain.Text{Content: "spaces, not tabs"},
		})
		for items := range 4 {
			w.FillFrom(items*400, 400)
			w.Understand()
			found := make(chan []string, 1)
			go func() { found <- w.Find(hers) }()
			select {
			case ids := <-found:
				Equal(t, ids, []string{"hers"}, "among %d others (-got +want)", 400*(items+1))
			case <-time.After(time.Minute):
				t.Fatalf("among %d others the search never ends", 400*(items+1))
			}
		}
	})
}
