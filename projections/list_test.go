package projections_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

func TestPagesCoverEachItemOnceWhileOthersAreAdded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var want []string
		for i := range 23 {
			want = append(want, fmt.Sprint("i", i))
			w.remember(want[i], "something", "team:pay", "org:acme", domain.Public)
		}
		slices.Reverse(want)
		for _, by := range []domain.Principal{w.by, as("user:alice", "team:pay", "org:acme")} {
			var got []string
			list := domain.List{By: by, Limit: 5, Before: numberOf(w, "i22") + 1}
			for page := 1; ; page++ {
				answer := must(w.base.Browser.List(t.Context(), list))(t)
				for _, k := range answer.Items {
					got = append(got, k.ID)
				}
				w.remember(fmt.Sprint("late", page, by.Role), "something", "team:pay", "user:alice")
				if answer.Next == 0 {
					break
				}
				list.Before = answer.Next
			}
			equal(t, got, want, "%s (-got +want)", by.Role)
		}
	})
}

func numberOf(w *world, id string) int64 {
	w.t.Helper()
	k := must(w.base.Browser.Find(w.t.Context(), w.by.Tenant, id))(w.t)
	return k.Number
}

// as is a member with these memberships.
func as(subject domain.Entity, memberships ...domain.Entity) domain.Principal {
	return domain.Principal{Tenant: domain.DefaultTenant, Subject: subject, Memberships: memberships, Role: domain.Member}
}

func TestAListHasWhatOneMaySeeAndWhatOneOwns(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, item := range []struct {
			id     string
			owner  domain.Entity
			scopes []domain.Scope
		}{
			{"mine", "user:alice", []domain.Scope{"user:alice"}},
			{"mine for others", "user:alice", []domain.Scope{"user:bob"}},
			{"the team's", "team:pay", []domain.Scope{"agent:bot"}},
			{"for the team", "user:bob", []domain.Scope{"team:pay", "user:carol"}},
			{"for all", "user:bob", []domain.Scope{domain.Public}},
			{"Bob's", "user:bob", []domain.Scope{"user:bob"}},
			{"prefix", "user:alice2", []domain.Scope{"user:alice2"}},
			{"forgotten", "user:alice", []domain.Scope{domain.Public}},
			{"forgotten by Bob", "user:bob", []domain.Scope{domain.Public, "user:alice"}},
			{"replaced", "user:alice", []domain.Scope{"user:alice"}},
		} {
			w.know(slug(item.id), domain.Remembered{
				Class: domain.Class{Type: domain.Tool}, Owner: item.owner, Scopes: item.scopes, Text: domain.Text{Content: item.id},
			})
		}
		for _, id := range []string{"forgotten", "forgotten by Bob"} {
			w.submit(domain.Delete{Target: domain.Target{By: w.by, ID: slug(id)}})
		}
		w.submit(domain.Supersede{Target: domain.Target{By: w.by, ID: "replaced"}, Successor: "mine"})

		admin, alice := w.by, as("user:alice", "team:pay")
		auditor := domain.Principal{Tenant: w.by.Tenant, Subject: "user:audit", Role: domain.Auditor}
		forAlice := admin
		forAlice.OnBehalfOf = "user:alice"
		everyStatus := domain.Filter{Statuses: domain.Statuses}
		for name, test := range map[string]struct {
			list domain.List
			want []string
		}{
			"a member": {
				domain.List{By: alice},
				[]string{"for all", "for the team", "mine", "mine for others", "the team's"},
			},
			"a member, every status": {
				domain.List{By: alice, Filter: everyStatus},
				[]string{"for all", "for the team", "forgotten", "mine", "mine for others", "replaced", "the team's"},
			},
			"a stranger": {domain.List{By: as("user:eve")}, []string{"for all"}},
			"a stranger, deleted": {domain.List{
				By:     as("user:eve"),
				Filter: domain.Filter{Statuses: []domain.Status{domain.IsDeleted}},
			}, nil},
			"an admin": {
				domain.List{By: admin},
				[]string{"Bob's", "for all", "for the team", "mine", "mine for others", "prefix", "the team's"},
			},
			"an auditor, deleted": {domain.List{
				By:     auditor,
				Filter: domain.Filter{Statuses: []domain.Status{domain.IsDeleted}},
			}, []string{"forgotten", "forgotten by Bob"}},
			"an admin for a member": {domain.List{By: forAlice}, []string{"for all", "mine", "mine for others"}},
			"another tenant":        {domain.List{By: w.in("other").by, Filter: everyStatus}, nil},
		} {
			test.list.Limit = 2
			var want []string
			for _, id := range test.want {
				want = append(want, slug(id))
			}
			slices.Sort(want)
			equal(t, slices.Sorted(slices.Values(w.list(test.list))), want, "%s (-got +want)", name)
		}
		w.seesWhatIsListed(admin, alice, auditor, as("user:eve"))
	})
}

// seesWhatIsListed holds lists, of every status, against what the domain says of each item.
func (w *world) seesWhatIsListed(people ...domain.Principal) {
	w.t.Helper()
	for _, by := range people {
		var want []string
		for id, k := range w.items() {
			if by.MaySee(k) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		got := slices.Sorted(slices.Values(w.list(domain.List{By: by, Filter: domain.Filter{Statuses: domain.Statuses}})))
		equal(w.t, got, want, "%s %s (-listed +visible)", by.Role, by.Subject)
	}
}

func slug(name string) string {
	var id []rune
	for _, r := range name {
		if r == ' ' || r == '\'' {
			r = '-'
		}
		id = append(id, r)
	}
	return string(id)
}

func TestFeedbackIsTheNewestVoicesAndThenWhatCameWithTheItem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		imported := domain.Use{
			Query: "before", TraceID: "t0", By: "user:bob",
			At: time.Date(2025, 1, 2, 3, 4, 5, 6000, time.UTC),
		}
		for _, id := range []string{"few", "many"} {
			w.know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Tool}, Text: domain.Text{Content: id},
				Baseline: &domain.Eval{
					Helpful: 2, Harmful: 1, HelpfulHistory: []domain.Use{imported},
					HarmfulHistory: []domain.Use{imported},
				},
			})
		}
		vote := func(id, trace string, verdict domain.Verdict) domain.Receipt {
			return w.submit(domain.GiveFeedback{
				Target: domain.Target{By: w.by, ID: id}, Verdict: verdict, TraceID: trace, Query: "it's about " + trace,
				Outcome: "好",
			})
		}
		vote("few", "t1", domain.Helpful)
		vote("few", "t2", domain.Helpful)
		vote("few", "t3", domain.Harmful)
		vote("few", "t2", domain.Harmful) // takes the other's place
		gone := vote("few", "t4", domain.Helpful)
		w.submit(domain.RetractFeedback{Target: domain.Target{By: w.by, ID: "few"}, EventID: gone.Events[0].EventID})
		for i := range 60 {
			vote("many", fmt.Sprint("t", i), domain.Helpful)
		}

		got := must(w.base.Browser.Feedback(t.Context(), w.by, "few"))(t)
		equal(t, footprint(got.Helpful), []string{"t1", "t0"}, "helpful (-got +want)")
		equal(t, footprint(got.Harmful), []string{"t2", "t3", "t0"}, "harmful (-got +want)")
		equal(t, got.Harmful[2], imported, "what came with the item (-got +want)")
		first := got.Helpful[0]
		if first.Query != "it's about t1" || first.Outcome != "好" || first.By != w.by.Subject || first.At.IsZero() {
			t.Errorf("a voice: %+v", first)
		}

		got = must(w.base.Browser.Feedback(t.Context(), w.by, "many"))(t)
		if len(got.Helpful) != 50 || got.Helpful[0].TraceID != "t59" || got.Helpful[49].TraceID != "t10" ||
			len(got.Harmful) != 1 {
			t.Errorf("of many: %v and %v", footprint(got.Helpful), footprint(got.Harmful))
		}
		if _, err := w.base.Browser.Feedback(t.Context(), w.by, "none"); !errors.Is(err, domain.ErrNotFound) {
			t.Errorf("of nothing: got %v, want not found", err)
		}
	})
}

func footprint(uses []domain.Use) []string {
	var ids []string
	for _, use := range uses {
		ids = append(ids, use.TraceID)
	}
	return ids
}
