package projections_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

func TestEveryFilterPassesWhatItSays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(newCorpus(3), 60)
		w.rememberOddly()
		w.understand()
		items := w.items()
		tried, passed := 0, 0
		all := filters(items)
		for i, name := range slices.Sorted(maps.Keys(all)) {
			filter := all[name]
			if testing.Short() && i%3 > 0 {
				continue
			}
			var listed, searched []string
			for _, k := range slices.SortedFunc(maps.Values(items), newestFirst) {
				if passes(k, filter) {
					listed = append(listed, k.ID)
				}
				if passes(k, filter) && IsLive(k) {
					searched = append(searched, k.ID)
				}
			}
			tried, passed = tried+1, passed+len(listed)
			equal(t, w.list(domain.List{By: w.by, Filter: filter, Limit: 100}), listed,
				"%s: list with %+v (-got +want)", name, filter)
			found := w.find(domain.Search{Text: "payment 支付", Filter: filter, Limit: 100, MinScore: new(float64)})
			equal(t, slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(searched)),
				"%s: search with %+v (-got +want)", name, filter)
		}
		if tried < 60 || passed < tried {
			t.Errorf("%d filters passed %d items: too few to tell anything", tried, passed)
		}
	})
}

// TestAListOfAScopeHasWhatThePrincipalMaySeeOfIt asks for scopes that one belongs to and for others.
func TestAListOfAScopeHasWhatThePrincipalMaySeeOfIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(newCorpus(5), 60)
		items := w.items()
		member := domain.Principal{
			Tenant: w.by.Tenant, Subject: "user:alice", Role: domain.Member,
			Memberships: []domain.Entity{"team:pay"},
		}
		all := 0
		for _, by := range []domain.Principal{w.by, member} {
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
						if passes(k, filter) && by.MaySee(k) {
							want = append(want, k.ID)
						}
					}
					all += len(want)
					equal(t, want, w.list(domain.List{By: by, Filter: filter, Limit: 3}),
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
		for name, condition := range conditionsMetBy(items[id]) {
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

// rememberOddly adds items whose tags and places look like SQL, JSON and patterns.
func (w *world) rememberOddly() {
	w.t.Helper()
	for i, tags := range []domain.Tags{
		{`a"b`: {`c"d`, `\`}},
		{"a.b": {"$.x"}},
		{"支付": {"支付?", "it's"}},
		{"": nil, "a": {}},
		{"a": {"a", "b"}, "b": {"a"}},
		{"Case": {"Case"}},
	} {
		delete(tags, "")
		w.know(fmt.Sprint("odd", i), domain.Remembered{
			Class: domain.Class{Type: domain.Tool}, Owner: "user:alice", Scopes: []domain.Scope{
				domain.Scope(fmt.Sprint("user:Al_ce", i)),
				"user:alice",
			},
			Text: domain.Text{Content: "payment 支付", Tags: tags, URI: fmt.Sprint("viking://odd/%_'?", i, "/x")},
		})
	}
	for i, name := range []string{domain.AbstractName, domain.OverviewName, "x" + domain.AbstractName} {
		w.know(fmt.Sprint("short", i), domain.Remembered{
			Class: domain.Class{Type: domain.Tool}, Owner: "user:alice", Text: domain.Text{Content: "payment 支付", URI: "viking://odd/" + name},
		})
	}
}

// list reads every page of a list.
func (w *world) list(list domain.List) (ids []string) {
	w.t.Helper()
	for {
		page := must(w.base.Browser.List(w.t.Context(), list))(w.t)
		for _, k := range page.Items {
			ids = append(ids, k.ID)
		}
		if page.Next == 0 {
			return ids
		}
		list.Before = page.Next
	}
}

// TestASearchEndsThoughOnePlaceHasGivenAllThatItHas asks for what few pass, where one of two places is nearly empty.
func TestASearchEndsThoughOnePlaceHasGivenAllThatItHas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hers := domain.Search{
			Text: "indentation", Context: domain.Context{Given: true, Entities: []domain.Entity{"user:alice", "org:acme"}},
			Filter: domain.Filter{Owner: "user:alice"}, MinScore: new(float64),
		}
		w.know("hers", domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "user:alice", Scopes: []domain.Scope{"user:alice"},
			Text: domain.Text{Content: "spaces, not tabs"},
		})
		for items := range 4 {
			w.fillFrom(items*400, 400)
			w.understand()
			found := make(chan []string, 1)
			go func() { found <- w.find(hers) }()
			select {
			case ids := <-found:
				equal(t, ids, []string{"hers"}, "among %d others (-got +want)", 400*(items+1))
			case <-time.After(time.Minute):
				t.Fatalf("among %d others the search never ends", 400*(items+1))
			}
		}
	})
}
