package search_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestASearchFindsWhatItsContextMaySee(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for id, scopes := range map[string][]domain.Scope{
			"alice": {"user:alice"}, "alice2": {"user:alice2"}, "project": {"project:456", "org:other"},
			"team": {"team:pay"}, "org": {"org:acme", "user:bob"}, "public": {domain.Public}, "bob": {"user:bob"},
		} {
			w.Remember(id, "how to retry a payment", scopes...)
		}
		alice := As("user:alice", "team:pay", "org:acme")
		service := domain.Principal{Tenant: w.By.Tenant, Subject: "agent:platform", Role: domain.Service}
		context := func(entities ...domain.Entity) domain.Context { return domain.Context{Given: true, Entities: entities} }
		for name, test := range map[string]struct {
			by      domain.Principal
			context domain.Context
			want    []string
		}{
			"a context":        {w.By, context("user:alice", "project:456"), []string{"alice", "project", "public"}},
			"an empty context": {w.By, context(), []string{"public"}},
			"everything": {
				w.By,
				domain.Context{},
				[]string{"alice", "alice2", "bob", "org", "project", "public", "team"},
			},
			"a member":             {alice, domain.Context{}, []string{"alice", "org", "public", "team"}},
			"a member, of less":    {alice, context("team:pay"), []string{"public", "team"}},
			"a service for anyone": {service, context("user:bob"), []string{"bob", "org", "public"}},
			"a stranger":           {As("user:eve"), domain.Context{}, []string{"public"}},
		} {
			for _, understood := range []bool{false, true} {
				if understood {
					w.Understand()
				}
				got := w.Find(domain.Search{By: test.by, Text: "retry payments", Context: test.context, MinScore: new(float64)})
				Equal(t, slices.Sorted(slices.Values(got)), test.want, "%s, by meaning %v (-got +want)", name, understood)
			}
		}
		_, err := domain.Search{By: alice, Text: "retry", Context: context("user:bob", "team:pay")}.Complete()
		if !errors.Is(err, domain.ErrForbidden) {
			t.Errorf("searching as somebody else: got %v, want forbidden", err)
		}
	})
}

func TestTenantsFindNothingOfEachOther(t *testing.T) {
	Each(t, func(t *testing.T, ours *World) {
		ours.Base.Indexer.MaxChanges = 0
		theirs := ours.In("theirs")
		ours.Remember("same", "how to retry a payment", "team:pay", domain.Public)
		ours.Remember("own", "how to retry our payment", "team:pay", domain.Public)
		ours.Understand()
		alone := answers(ours)
		theirs.Remember("same", "how to retry a payment", "team:pay", domain.Public)
		theirs.Remember("secret", "how to retry a secret payment", "team:pay", domain.Public)
		theirs.Remember("second", "how to retry a second payment", "team:pay", domain.Public)
		theirs.Understand()
		for _, when := range []string{"words in bags", "words in the index"} {
			Equal(t, answers(ours), alone, "%s: what we find beside others (-got +alone)", when)
			for question, answer := range answers(theirs) {
				if len(answer.Hits) != 3 || answer.Explain.Visible != 3 {
					t.Errorf("%s: they find %d of %d things by question %d", when, len(answer.Hits), answer.Explain.Visible, question)
				}
			}
			NoError(t, ours.Base.Indexer.IndexWords(t.Context()))
		}
		if _, err := ours.Base.Browser.Find(t.Context(), ours.By.Tenant, "secret"); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("another tenant's item: got %v, want not found", err)
		}
		if got := theirs.List(domain.List{By: theirs.By}); len(got) != 3 {
			t.Errorf("they list %v", got)
		}
	})
}

// answers are what questions of several kinds find, without how long it took.
func answers(w *World) (answers []domain.Answer) {
	w.T.Helper()
	for _, s := range []domain.Search{
		{},
		{Filter: domain.Filter{Types: []domain.Type{domain.Strategy}}},
		{Context: Pay},
		{Filter: domain.Filter{Scope: "team:pay"}, Context: domain.Context{Given: true}},
	} {
		s.Text, s.MinScore, s.Explain = "retry a secret payment", new(float64), true
		answer := w.Search(s)
		answer.Explain.Took = 0
		answers = append(answers, answer)
	}
	return answers
}

func TestWhatWasForgottenIsFoundByNobody(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("kept", "how to retry a payment", domain.Public)
		w.Remember("gone", "how to retry a payment", domain.Public)
		w.Understand()
		w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: "gone"}})
		for _, when := range []string{"before the vectors have followed", "afterwards"} {
			for _, filter := range []domain.Filter{
				{},
				{Statuses: domain.Statuses},
				{Statuses: []domain.Status{domain.IsDeleted}},
			} {
				for _, by := range []domain.Principal{w.By, As("user:eve")} {
					got := w.Find(domain.Search{By: by, Text: "retry payments", Filter: filter, MinScore: new(float64)})
					if slices.Contains(got, "gone") {
						t.Errorf("%s, %s found what was forgotten, with status %v", when, by.Role, filter.Statuses)
					}
				}
			}
			w.Understand()
		}
	})
}

func TestWhatHappenedInAScopeIsToldThoughTheItemHasMovedOn(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		target := func(id string) domain.Target { return domain.Target{By: w.By, ID: id} }
		w.Remember("moved", "how to retry a payment", "team:pay")                                        // 1
		w.Submit(domain.ReportStale{Target: target("moved")})                                            // 2
		w.Submit(domain.Revise{Target: target("moved"), Scopes: []domain.Scope{"team:ops"}})             // 3
		w.Submit(domain.Confirm{Target: target("moved")})                                                // 4
		w.Remember("gone", "how to refund a payment", "team:pay")                                        // 5
		w.Submit(domain.Delete{Target: target("gone")})                                                  // 6
		w.Remember("other", "how to page somebody", "team:ops")                                          // 7
		w.Submit(domain.Revise{Target: target("other"), Scopes: []domain.Scope{"team:ops", "team:pay"}}) // 8
		// 9: rescoped, 10: transferred
		w.Submit(domain.Revise{Target: target("moved"), Owner: "user:zoe", Scopes: []domain.Scope{"user:zoe"}})
		w.ReadOn(3)
		pay := As("user:eve", "team:pay")
		for name, test := range map[string]struct {
			q       domain.EventQuery
			want    []int64
			streams []string
		}{
			"a scope": {
				domain.EventQuery{Scope: "team:pay"},
				[]int64{1, 2, 3, 5, 6, 7, 8},
				[]string{"knowledge:gone", "knowledge:moved", "knowledge:other"},
			},
			"a scope that it came to": {
				domain.EventQuery{Scope: "team:ops"}, []int64{3, 4, 7, 8, 9}, []string{"knowledge:moved", "knowledge:other"},
			},
			"its former owner": {
				domain.EventQuery{Owner: "org:acme", Scope: "team:ops", Names: []string{"knowledge.confirmed"}}, []int64{4}, nil,
			},
			"somebody of the scope, of what reaches her now": {
				domain.EventQuery{Scope: "team:pay", Only: &pay}, []int64{7, 8}, []string{"knowledge:other"},
			},
		} {
			test.q.Tenant = w.By.Tenant
			found, _, err := w.Log.Finder.Find(t.Context(), test.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, event := range found {
				got = append(got, event.Position)
			}
			Equal(t, got, test.want, "%s (-got +want)", name)
			if test.streams == nil {
				continue
			}
			streams, _, err := w.Base.Browser.Streams(t.Context(), test.q, 10)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(streams)
			Equal(t, streams, test.streams, "%s, streams (-got +want)", name)
		}
	})
}

// However many archives say it better, a search finds the lesson alone, now and as of a position, unless it asks
// for archives.
func TestArchivesAreFoundByThoseWhoAskForThem(t *testing.T) {
	EachPast(t, func(t *testing.T, w PastWorld) {
		const archives = 300
		var commands []domain.Command
		remember := func(id, uri, content string, tags domain.Tags) {
			commands = append(commands, w.Knowing(id, domain.Remembered{
				Class: domain.Class{Type: domain.Usecase}, Owner: "user:mia", Scopes: []domain.Scope{"user:mia"},
				Text: domain.Text{Content: content, URI: uri, Tags: tags},
			}))
		}
		remember("lesson", "", "The kohlrabi deploy needs chart 1.4, and a window of an hour.", nil)
		for i := range archives {
			remember(domain.ArchiveItem("session:mia/s", i+1), domain.ArchiveURI("user:mia", "s", i+1), "user: kohlrabi deploy",
				domain.Tags{"category": {domain.ArchiveTag}})
		}
		w.SubmitAll(commands...)
		w.Understand()
		w.ReadOn(500)
		for name, filter := range map[string]domain.Filter{
			"": {}, "the user's": {Owner: "user:mia"}, "a place": {URIPrefix: "viking://session/"},
			"a session": {Under: []domain.URI{"viking://session/mia/s"}},
			"their tag": {Tags: domain.Tags{"category": {domain.ArchiveTag}}},
		} {
			asked := filter.URIPrefix != "" || len(filter.Under)+len(filter.Tags) > 0
			for _, position := range []int64{0, w.Head()} {
				s := Must(domain.Search{
					By: w.By, Text: "kohlrabi deploy", Filter: filter, Limit: 20, MinScore: new(float64),
					AsOf: position, Everyone: true, Copies: true,
				}.Complete())(t)
				answer, err := w.Base.Searcher.Search(t.Context(), s)
				if position != 0 {
					answer, err = w.Past.Search(t.Context(), s)
				}
				if err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, hit := range answer.Hits {
					ids = append(ids, hit.ID)
				}
				if !asked && !slices.Equal(ids, []string{"lesson"}) || asked && (len(ids) != 20 || slices.Contains(ids, "lesson")) {
					t.Errorf("%q as of %d: found %v", name, position, fmt.Sprint(ids))
				}
			}
		}
	})
}
