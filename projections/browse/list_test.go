package browse_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestPagesCoverEachItemOnceWhileOthersAreAdded(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		var want []string
		for i := range 23 {
			want = append(want, fmt.Sprint("i", i))
			w.Remember(want[i], "something", "team:pay", "org:acme", domain.Public)
		}
		slices.Reverse(want)
		for _, by := range []domain.Principal{w.By, As("user:alice", "team:pay", "org:acme")} {
			var got []string
			list := domain.List{By: by, Limit: 5, Before: numberOf(w, "i22") + 1}
			for page := 1; ; page++ {
				answer := Must(w.Base.Browser.List(t.Context(), list))(t)
				for _, k := range answer.Items {
					got = append(got, k.ID)
				}
				w.Remember(fmt.Sprint("late", page, by.Role), "something", "team:pay", "user:alice")
				if answer.Next == 0 {
					break
				}
				list.Before = answer.Next
			}
			Equal(t, got, want, "%s (-got +want)", by.Role)
		}
	})
}

func numberOf(w *World, id string) int64 {
	w.T.Helper()
	k := Must(w.Base.Browser.Find(w.T.Context(), w.By.Tenant, id))(w.T)
	return k.Number
}

func TestAListHasWhatOneMaySeeAndWhatOneOwns(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
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
			w.Know(slug(item.id), domain.Remembered{
				Class: domain.Class{Type: domain.Tool}, Owner: item.owner, Scopes: item.scopes, Text: domain.Text{Content: item.id},
			})
		}
		for _, id := range []string{"forgotten", "forgotten by Bob"} {
			w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: slug(id)}})
		}
		w.Submit(domain.Supersede{Target: domain.Target{By: w.By, ID: "replaced"}, Successor: "mine"})

		admin, alice := w.By, As("user:alice", "team:pay")
		auditor := domain.Principal{Tenant: w.By.Tenant, Subject: "user:audit", Role: domain.Auditor}
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
			"a stranger": {domain.List{By: As("user:eve")}, []string{"for all"}},
			"a stranger, deleted": {domain.List{
				By:     As("user:eve"),
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
			"another tenant":        {domain.List{By: w.In("other").By, Filter: everyStatus}, nil},
		} {
			test.list.Limit = 2
			var want []string
			for _, id := range test.want {
				want = append(want, slug(id))
			}
			slices.Sort(want)
			Equal(t, slices.Sorted(slices.Values(w.List(test.list))), want, "%s (-got +want)", name)
		}
		seesWhatIsListed(w, admin, alice, auditor, As("user:eve"))
	})
}

// seesWhatIsListed holds lists, of every status, against what the domain says of each item.
func seesWhatIsListed(w *World, people ...domain.Principal) {
	w.T.Helper()
	for _, by := range people {
		var want []string
		for id, k := range w.Items() {
			if by.MaySee(k) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		got := slices.Sorted(slices.Values(w.List(domain.List{By: by, Filter: domain.Filter{Statuses: domain.Statuses}})))
		Equal(w.T, got, want, "%s %s (-listed +visible)", by.Role, by.Subject)
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
	Each(t, func(t *testing.T, w *World) {
		imported := domain.Use{
			Query: "before", TraceID: "t0", By: "user:bob",
			At: time.Date(2025, 1, 2, 3, 4, 5, 6000, time.UTC),
		}
		for _, id := range []string{"few", "many"} {
			w.Know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Tool}, Text: domain.Text{Content: id},
				Baseline: &domain.Eval{
					Helpful: 2, Harmful: 1, HelpfulHistory: []domain.Use{imported},
					HarmfulHistory: []domain.Use{imported},
				},
			})
		}
		vote := func(id, trace string, verdict domain.Verdict) domain.Receipt {
			return w.Submit(domain.GiveFeedback{
				Target: domain.Target{By: w.By, ID: id}, Verdict: verdict, TraceID: trace, Query: "it's about " + trace,
				Outcome: "好",
			})
		}
		vote("few", "t1", domain.Helpful)
		vote("few", "t2", domain.Helpful)
		vote("few", "t3", domain.Harmful)
		vote("few", "t2", domain.Harmful) // takes the other's place
		gone := vote("few", "t4", domain.Helpful)
		w.Submit(domain.RetractFeedback{Target: domain.Target{By: w.By, ID: "few"}, EventID: gone.Events[0].EventID})
		for i := range 60 {
			vote("many", fmt.Sprint("t", i), domain.Helpful)
		}

		got := Must(w.Base.Browser.Feedback(t.Context(), w.By, "few"))(t)
		Equal(t, footprint(got.Helpful), []string{"t1", "t0"}, "helpful (-got +want)")
		Equal(t, footprint(got.Harmful), []string{"t2", "t3", "t0"}, "harmful (-got +want)")
		Equal(t, got.Harmful[2], imported, "what came with the item (-got +want)")
		first := got.Helpful[0]
		if first.Query != "it's about t1" || first.Outcome != "好" || first.By != w.By.Subject || first.At.IsZero() {
			t.Errorf("a voice: %+v", first)
		}

		got = Must(w.Base.Browser.Feedback(t.Context(), w.By, "many"))(t)
		if len(got.Helpful) != 50 || got.Helpful[0].TraceID != "t59" || got.Helpful[49].TraceID != "t10" ||
			len(got.Harmful) != 1 {
			t.Errorf("of many: %v and %v", footprint(got.Helpful), footprint(got.Harmful))
		}
		if _, err := w.Base.Browser.Feedback(t.Context(), w.By, "none"); !errors.Is(err, domain.ErrNotFound) {
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
