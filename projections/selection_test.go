package projections_test

import (
	"slices"
	"testing"

	"github.com/annals-kb/annals/domain"
)

func TestWhatHappenedInAScopeIsToldThoughTheItemHasMovedOn(t *testing.T) {
	eachPast(t, func(t *testing.T, w pastWorld) {
		target := func(id string) domain.Target { return domain.Target{By: w.by, ID: id} }
		w.remember("moved", "how to retry a payment", "team:pay")                                        // 1
		w.submit(domain.ReportStale{Target: target("moved")})                                            // 2
		w.submit(domain.Revise{Target: target("moved"), Scopes: []domain.Scope{"team:ops"}})             // 3
		w.submit(domain.Confirm{Target: target("moved")})                                                // 4
		w.remember("gone", "how to refund a payment", "team:pay")                                        // 5
		w.submit(domain.Delete{Target: target("gone")})                                                  // 6
		w.remember("other", "how to page somebody", "team:ops")                                          // 7
		w.submit(domain.Revise{Target: target("other"), Scopes: []domain.Scope{"team:ops", "team:pay"}}) // 8
		// 9: rescoped, 10: transferred
		w.submit(domain.Revise{Target: target("moved"), Owner: "user:zoe", Scopes: []domain.Scope{"user:zoe"}})
		w.readOn(3)
		pay := as("user:eve", "team:pay")
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
			test.q.Tenant = w.by.Tenant
			found, _, err := w.log.Find(t.Context(), test.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, event := range found {
				got = append(got, event.Position)
			}
			equal(t, got, test.want, "%s (-got +want)", name)
			if test.streams == nil {
				continue
			}
			streams, _, err := w.base.Streams(t.Context(), test.q, 10)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(streams)
			equal(t, streams, test.streams, "%s, streams (-got +want)", name)
		}
	})
}
