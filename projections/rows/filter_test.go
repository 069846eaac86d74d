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
		items, member := w.Items(), As("user:alice", "team:pay")
		tried, passed := 0, 0
		all := filters(items)
		for i, name := range slices.Sorted(maps.Keys(all)) {
			filter := all[name]
			if testing.Short() && i%3 > 0 {
				continue
			}
			var listed, seen, searched []string
			for _, k := range slices.SortedFunc(maps.Values(items), newestFirst) {
				if Passes(k, filter) {
					listed = append(listed, k.ID)
				}
				if Passes(k, filter) && member.MaySee(k) {
					seen = append(seen, k.ID)
				}
				if Passes(k, filter) && IsLive(k) {
					searched = append(searched, k.ID)
				}
			}
			tried, passed = tried+1, passed+len(listed)
			Equal(t, w.List(domain.List{By: w.By, Filter: filter, Limit: 100}), listed,
				"%s: list with %+v (-got +want)", name, filter)
			Equal(t, w.List(domain.List{By: member, Filter: filter, Limit: 7}), seen,
				"%s: a member's list with %+v (-got +want)", name, filter)
			found := w.Find(domain.Search{Text: "payment 支付", Filter: filter, Limit: 100, MinScore: new(float64)})
			Equal(t, slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(searched)),
				"%s: search with %+v (-got +want)", name, filter)
		}
		if tried < 60 || passed < tried {
			t.Errorf("%d filters passed %d items: too few to tell anything", tried, passed)
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
			Equal(t, w.Find(hers), []string{"hers"}, "among %d others (-got +want)", 400*(items+1))
		}
	})
}
