package people_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhoJoinsATeamReadsItsKnowledgeWithTheSameKey(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin, mia := w.Company()
		w.Ask("POST", "/v1/knowledge", Object{
			"id": "window", "type": "plan", "content": "Deploy on Tuesdays.",
			"owner": "team:pay", "scopes": []string{"team:pay"},
		}, admin).Want(http.StatusCreated)
		w.Ask("GET", "/v1/knowledge/window", nil, mia).Want(http.StatusNotFound)

		const membership = "/v1/directory/user:mia/groups/project:retries"
		w.Ask("PUT", membership, nil, mia).Want(http.StatusForbidden)
		joined := w.Ask("PUT", membership, Object{"role": "maintainer"}, admin).Want(http.StatusOK).JSON()
		Like(t, joined, Object{"member": "user:mia", "groups": []any{
			Object{"group": "project:retries", "role": "maintainer"},
			Object{"group": "team:pay", "role": "member", "through": "project:retries"},
			Object{"group": "org:acme", "through": "team:pay"},
		}})
		w.Ask("GET", "/v1/knowledge/window", nil, mia).Want(http.StatusOK)
		found := w.Ask("POST", "/v1/search", Object{"query": "when do we deploy?"}, mia).Want(http.StatusOK).JSON()
		Like(t, found["items"], []any{Object{"scope": "team:pay"}})
		Like(t, w.Ask("GET", "/v1/whoami", nil, mia).Want(http.StatusOK).JSON(), Object{
			"memberships": []any{"project:retries", "team:pay", "org:acme"}, "groups": []any{Object{"role": "maintainer"}, Object{}, Object{}},
		})
		w.Ask("POST", "/v1/knowledge", Object{
			"type": "plan", "content": "Not on Fridays.", "owner": "team:pay",
			"scopes": []string{"team:pay"},
		}, mia).Want(http.StatusCreated)

		w.Ask("PUT", "/v1/directory/user:olga/groups/project:retries", nil, mia).Want(http.StatusOK) // by a maintainer
		Like(t, w.Ask("GET", "/v1/directory/project:retries", nil, mia).Want(http.StatusOK).JSON()["members"], []any{
			Object{"member": "user:mia", "role": "maintainer"}, Object{"member": "user:olga", "role": "member"},
		})
		w.Ask("DELETE", membership, Object{"reason": "another project"}, mia).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge/window", nil, mia).Want(http.StatusNotFound)
	})
}

func TestAnAgentThatActsForAMemberReadsWhatTheMemberReads(t *testing.T) {
	EachWith(t, Keyed, func(_ *testing.T, w *World) {
		admin, _ := w.Company()
		key := func(of Object) Header {
			return Bearer(w.Ask("POST", "/v1/keys", of, admin).Want(http.StatusCreated).JSON()["key"].(string))
		}
		platform := key(Object{"subject": "agent:platform", "role": "service", "acts_for": true})
		builder := key(Object{"subject": "agent:builder", "acts_for": true, "memberships": []string{"team:build"}})
		const forMia Header = "Annals-On-Behalf-Of: user:mia"
		for id, scope := range map[string]string{"window": "team:pay", "secret": "team:build", "note": "user:olga"} {
			w.Ask("POST", "/v1/knowledge", Object{
				"id": id, "type": "plan", "content": "About " + id, "owner": scope,
				"scopes": []string{scope},
			}, admin).Want(http.StatusCreated)
		}
		w.Ask("PUT", "/v1/directory/user:mia/groups/team:pay", nil, admin).Want(http.StatusOK)
		for _, agent := range []Header{platform, builder} {
			w.Ask("GET", "/v1/knowledge/window", nil, agent, forMia).Want(http.StatusOK)
			w.Ask("GET", "/v1/knowledge/secret", nil, agent, forMia).Want(http.StatusNotFound)
			w.Ask("GET", "/v1/knowledge/note", nil, agent, forMia).Want(http.StatusNotFound)
			w.Ask("POST", "/v1/search", Object{"query": "about", "context": Object{"team_id": "build"}}, agent, forMia).
				Want(http.StatusForbidden)
			w.Ask("POST", "/v1/knowledge", Object{
				"type": "plan", "content": "For others", "owner": "user:mia",
				"scopes": []string{"team:build"},
			}, agent, forMia).Want(http.StatusForbidden)
		}
	})
}

func TestAKeyMayBeForSomeOnlyAndRefusalsNameThem(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin, _ := w.Company()
		made := w.Ask("POST", "/v1/keys", Object{
			"subject": "agent:coder", "role": "service", "acts_for_only": []string{"user:zoe", "team:pay"},
		}, admin).Want(http.StatusCreated).JSON()
		Like(t, made, Object{"acts_for": true, "acts_for_only": []any{"user:zoe", "team:pay"}})
		coder := Bearer(made["key"].(string))
		as := func(e string) Header { return For(e) }
		w.Ask("POST", "/v1/knowledge", Object{"id": "note", "type": "plan", "content": "Hers", "owner": "user:olga"}, admin).
			Want(http.StatusCreated)
		w.Ask("GET", "/v1/whoami", nil, coder, as("user:zoe")).Want(http.StatusOK)
		w.Ask("GET", "/v1/whoami", nil, coder, as("team:pay")).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge/note", nil, coder).Want(http.StatusNotFound) // the role reaches no further
		refused := w.Ask("GET", "/v1/whoami", nil, coder, as("user:mia")).Want(http.StatusForbidden).JSON()
		Like(t, refused, Object{
			"detail": "the key lets agent:coder act only on behalf of user:zoe, team:pay, not of user:mia",
		})

		w.Ask("PUT", "/v1/directory/user:mia/groups/project:retries", nil, admin).Want(http.StatusOK)
		Like(t, w.Ask("GET", "/v1/whoami", nil, coder, as("user:mia")).Want(http.StatusOK).JSON(), Object{
			"acts_for": true, "acts_for_only": []any{"user:zoe", "team:pay"},
		})
		readers := func(scope string) (reasons []any) {
			report := w.Ask("GET", "/v1/reports/access?scope="+scope, nil, admin).Want(http.StatusOK).JSON()
			for _, r := range report["items"].([]any) {
				if one := r.(Object); one["subject"] == "agent:coder" {
					reasons = append(reasons, one["reason"])
				}
			}
			return reasons
		}
		for scope, want := range map[string]int{"user:mia": 1, "team:pay": 1, "org:acme": 1, "user:zoe": 1, "user:olga": 0} {
			if got := readers(scope); len(got) != want || want > 0 && got[0] != "acts_for" {
				t.Errorf("reads %s for %v", scope, got)
			}
		}
		rotated := w.Ask("POST", "/v1/keys/"+made["prefix"].(string)+"/rotate", nil, admin).Want(http.StatusCreated).JSON()
		Like(t, rotated, Object{"acts_for_only": []any{"user:zoe", "team:pay"}})
		w.Ask("POST", "/v1/keys", Object{"subject": "agent:x", "acts_for_only": []string{"mia"}}, admin).
			Want(http.StatusUnprocessableEntity)
	})
}

func TestADeactivatedMemberMayDoNothingAtOnce(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin, mia := w.Company()
		agent := Bearer(w.Ask("POST", "/v1/keys", Object{"subject": "agent:platform", "role": "service", "acts_for": true}, admin).
			Want(http.StatusCreated).JSON()["key"].(string))
		w.Ask("POST", "/v1/knowledge", Object{"id": "a", "type": "plan", "content": "Mine"}, mia).Want(http.StatusCreated)
		done := w.Ask("POST", "/v1/directory/user:mia/deactivate", Object{"reason": "she left"}, admin).Want(http.StatusOK).JSON()
		Like(t, done, Object{"active": false, "owns": 1.0})
		acts := []Object{
			{"id": "a", "act": "transfer"},
			{"id": "a", "act": "transfer", "owner": "bob"},
			{"id": "a", "act": "stale", "owner": "user:bob"},
			{"id": "a", "act": "transfer", "owner": "team:pay", "reason": "she left"},
		}
		for i, line := range w.Ask("POST", "/v1/knowledge/acts", acts, admin).Want(http.StatusOK).Lines() {
			want := Object{"error": Object{"errors": []any{Object{"field": "owner"}}}}
			if i == 3 {
				want = Object{"status": "revised"}
			}
			Like(t, line, want)
		}
		Like(t, w.Ask("GET", "/v1/knowledge/a", nil, admin).JSON(), Object{"owner": "team:pay"})
		if revoked, _ := done["revoked_keys"].([]any); len(revoked) != 1 {
			t.Errorf("revoked %v", done["revoked_keys"])
		}
		w.Ask("GET", "/v1/whoami", nil, mia).Want(http.StatusUnauthorized)
		w.Ask("GET", "/v1/whoami", nil, agent, "Annals-On-Behalf-Of: user:mia").Want(http.StatusUnauthorized)
		w.Ask("GET", "/v1/knowledge/a", nil, admin).Want(http.StatusOK) // what she recorded stays
		w.Ask("POST", "/v1/directory/user:mia/reactivate", nil, admin).Want(http.StatusOK)
		w.Ask("GET", "/v1/whoami", nil, agent, "Annals-On-Behalf-Of: user:mia").Want(http.StatusOK)
		w.Ask("GET", "/v1/whoami", nil, mia).Want(http.StatusUnauthorized) // her key stays revoked

		// a crash before the revocation of the keys
		made := w.Ask("POST", "/v1/keys", Object{"subject": "user:ben"}, admin).Want(http.StatusCreated).JSON()
		ben := domain.OfDirectory{By: olga, Member: "user:ben"}
		record(w, domain.PutMember{OfDirectory: ben}, domain.DeactivateMember{OfDirectory: ben})
		w.Ask("POST", "/v1/keys", Object{"subject": "user:ben"}, admin).Want(http.StatusConflict)
		record(w, domain.DeactivateMember{OfDirectory: ben, Again: true})
		w.Ask("GET", "/v1/whoami", nil, Bearer(made["key"].(string))).Want(http.StatusUnauthorized)
		w.Ask("POST", "/v1/keys/"+made["prefix"].(string)+"/rotate", nil, admin).Want(http.StatusConflict)
	})
}

var olga = domain.Principal{Tenant: domain.DefaultTenant, Subject: "user:olga", Role: domain.Admin}

// record decides commands, and records what follows.
func record(w *World, all ...domain.Command) {
	w.T.Helper()
	submissions := make([]domain.Submission, len(all))
	for i, c := range all {
		submissions[i] = domain.Submission{By: olga, Command: c}
	}
	for i, result := range w.Log.SubmitAll(w.T.Context(), submissions) {
		if result.Err != nil {
			w.T.Fatalf("%+v: %v", all[i], result.Err)
		}
	}
}

func TestAMemberMayBelongToHundredsOfGroups(t *testing.T) {
	EachWith(t, Keyed, func(_ *testing.T, w *World) {
		admin, _ := w.Company()
		mia := Bearer(w.Ask("POST", "/v1/keys", Object{"subject": "user:mia", "memberships": []string{"team:over"}}, admin).
			Want(http.StatusCreated).JSON()["key"].(string))
		var all []domain.Command
		for i := range 100 {
			member := domain.Entity("user:mia")
			for _, kind := range []string{"team:%d", "project:%d", "org:%d"} {
				group := domain.Entity(fmt.Sprintf(kind, i))
				all = append(all, domain.PutMember{OfDirectory: domain.OfDirectory{By: olga, Member: group}},
					domain.JoinGroup{OfDirectory: domain.OfDirectory{By: olga, Member: member}, Group: group})
				member = group
			}
		}
		w.FollowPast()
		over := domain.OfDirectory{By: olga, Member: "team:over"}
		record(w, append(all, domain.PutMember{OfDirectory: over}, domain.DeactivateMember{OfDirectory: over})...)
		for id, scope := range map[string]string{"a": "org:99", "b": "team:over"} {
			w.Ask("POST", "/v1/knowledge", Object{
				"id": id, "type": "plan", "content": "Deploy on Tuesdays.", "owner": scope, "scopes": []string{scope},
			}, admin).Want(http.StatusCreated)
		}
		w.Ask("GET", "/v1/knowledge/a", nil, mia).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge/b", nil, mia).Want(http.StatusNotFound) // her key states a deactivated group
		for _, path := range []string{
			"knowledge", "knowledge?sort=updated", "knowledge?status=deleted", "knowledge?uri=viking://", "knowledge?as_of=600",
			"knowledge/a/history", "overview", "events", "events/histogram", "reviews", "reports/health", "sessions",
		} {
			w.Ask("GET", "/v1/"+path, nil, mia).Want(http.StatusOK)
		}
		found := w.Ask("POST", "/v1/search", Object{"query": "when do we deploy?"}, mia).Want(http.StatusOK).JSON()
		Like(w.T, found["items"], []any{Object{"scope": "org:99"}})
	})
}

func TestMembersAreListedInPagesAndRefusalsNameWhatIsWrong(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin, _ := w.Company()
		w.Ask("PUT", "/v1/directory/user:zoe", Object{"display_name": "佐伊"}, admin).Want(http.StatusOK)
		page := w.Ask("GET", "/v1/directory?kind=user&limit=2", nil, admin).Want(http.StatusOK).JSON()
		Like(t, page, Object{"items": []any{Object{"member": "user:mia"}, Object{"member": "user:olga"}}})
		rest := w.Ask("GET", "/v1/directory?kind=user&limit=2&cursor="+page["next_cursor"].(string), nil, admin).Want(http.StatusOK).JSON()
		Like(t, rest, Object{"items": []any{Object{"member": "user:zoe", "display_name": "佐伊"}}})
		found := w.Ask("GET", "/v1/directory?kind=user&limit=1&q=%E4%BD%90", nil, admin).Want(http.StatusOK).JSON()
		Like(t, found, Object{"items": []any{Object{"member": "user:zoe"}}})
		w.Ask("GET", "/v1/directory?kind=boss&limit=0&cursor=x", nil, admin).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/directory/user:nobody", nil, admin).Want(http.StatusNotFound)
		w.Ask("PUT", "/v1/directory/zoe", nil, admin).Want(http.StatusUnprocessableEntity)
		w.Ask("PUT", "/v1/directory/user:zoe/groups/user:mia", Object{"role": "boss"}, admin).Want(http.StatusUnprocessableEntity)
		w.Ask("PUT", "/v1/directory/user:zoe/groups/team:none", nil, admin).Want(http.StatusNotFound)
		w.Ask("PUT", "/v1/directory/org:acme/groups/project:retries", nil, admin).Want(http.StatusConflict) // a cycle
		Like(t, w.Ask("PUT", "/v1/directory/user:zoe", nil, admin).Want(http.StatusOK).Header.Get("Annals-Outcome"), "unchanged")
	})
}

func TestAMaintainerConfirmsWhatItsGroupReads(t *testing.T) {
	EachWith(t, Keyed, func(_ *testing.T, w *World) {
		admin, mia := w.Company()
		for _, id := range []string{"window", "newer"} {
			w.Ask("POST", "/v1/knowledge", Object{
				"id": id, "type": "plan", "content": "Deploy on Tuesdays: " + id, "owner": "user:olga", "scopes": []string{"team:pay"},
			}, admin).Want(http.StatusCreated)
		}
		w.Ask("PUT", "/v1/directory/user:mia/groups/team:pay", nil, admin).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/window/confirm", nil, mia).Want(http.StatusForbidden)
		w.Ask("PUT", "/v1/directory/user:mia/groups/team:pay", Object{"role": "maintainer"}, admin).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/window/confirm", nil, mia).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/window/supersede", Object{"by": "newer"}, mia).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/newer", nil, mia).Want(http.StatusForbidden)
	})
}

// A chain of groups is as long as may be, wherever it grows: at its lower end, at its upper end, or in its middle.
func TestAChainOfGroupsHasOneLimit(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		join := func(member, group int, status int) {
			t.Helper()
			w.Ask("PUT", fmt.Sprintf("/v1/directory/team:g%d/groups/team:g%d", member, group), nil).Want(status)
		}
		for i := range 20 {
			w.Ask("PUT", fmt.Sprintf("/v1/directory/team:g%d", i), nil).Want(http.StatusOK)
		}
		for i := 1; i < 16; i++ { // from g1 up to g16
			join(i, i+1, http.StatusOK)
		}
		join(16, 17, http.StatusConflict)
		join(0, 1, http.StatusConflict)
		join(18, 19, http.StatusOK)
		join(19, 2, http.StatusConflict) // g18 would lie below 16 groups
		join(19, 3, http.StatusOK)
		w.Ask("PUT", "/v1/directory/user:mia", nil).Want(http.StatusOK)
		w.Ask("PUT", "/v1/directory/user:mia/groups/team:g1", nil).Want(http.StatusOK)
		mia := w.Ask("GET", "/v1/directory/user:mia", nil).Want(http.StatusOK).JSON()
		Same(t, len(mia["groups"].([]any)), 16, "groups of the lowest member")
	})
}

func TestRacingMembershipsMakeNoCycle(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const teams = 5
		team := func(i int) string { return fmt.Sprint("team:t", i%teams) }
		w.Ask("PUT", "/v1/directory/user:mia", nil).Want(http.StatusOK)
		for i := range teams {
			w.Ask("PUT", "/v1/directory/"+team(i), nil).Want(http.StatusOK)
		}
		got := Race(func(client int) (all []*Answer) {
			edge := "/v1/directory/" + team(client) + "/groups/" + team(client+1+client%3)
			mia := "/v1/directory/user:mia/groups/" + team(client%2)
			for i, method := range []string{"PUT", "DELETE", "PUT"} {
				all = append(all, w.Ask(method, edge, nil), w.Ask([]string{"PUT", "DELETE"}[(client/2+i)%2], mia, nil))
			}
			return all
		})
		Only(t, got, http.StatusOK, http.StatusConflict)
		edges := map[string][]string{}
		for _, member := range []string{"user:mia", "team:t0", "team:t1", "team:t2", "team:t3", "team:t4"} {
			direct, logged := []string{}, []string{}
			for _, e := range w.Logged(member) {
				group, _ := Pick(e, "data", "group").(string)
				is := slices.Contains(logged, group)
				switch {
				case e["name"] == "directory.joined" && !is:
					logged = append(logged, group)
				case e["name"] == "directory.left" && is:
					logged = slices.DeleteFunc(logged, func(one string) bool { return one == group })
				case e["name"] != "directory.added":
					t.Errorf("%s: %v %s a second time", member, e["name"], group)
				}
			}
			groups, _ := w.Ask("GET", "/v1/directory/"+member, nil).Want(http.StatusOK).JSON()["groups"].([]any)
			for _, g := range groups {
				if group := g.(Object); group["through"] == nil {
					direct = append(direct, group["group"].(string))
				}
			}
			slices.Sort(direct)
			slices.Sort(logged)
			Same(t, direct, logged, "groups of", member, "and those by the log")
			edges[member] = direct
		}
		for range teams + 1 { // a member that belongs to no group that is left is in no cycle
			maps.DeleteFunc(edges, func(_ string, groups []string) bool {
				return !slices.ContainsFunc(groups, func(group string) bool { return edges[group] != nil })
			})
		}
		Same(t, edges, map[string][]string{}, "a cycle")
	})
}
