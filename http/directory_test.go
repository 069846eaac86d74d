package http_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

// company is a server with a directory: Mia belongs to the retries project, which belongs to team:pay, which belongs to
// org:acme. It returns the admin's header and Mia's.
func (w *world) company() (admin, mia header) {
	w.t.Helper()
	olga := w.given("", object{"subject": "user:olga", "role": "admin"})
	admin = bearer(olga)
	mia = bearer(w.given(olga, object{"subject": "user:mia"}))
	for _, member := range []string{"user:mia", "user:olga", "project:retries", "team:pay", "org:acme"} {
		w.ask("PUT", "/v1/directory/"+member, nil, admin).want(http.StatusOK)
	}
	for member, group := range map[string]string{"project:retries": "team:pay", "team:pay": "org:acme"} {
		w.ask("PUT", "/v1/directory/"+member+"/groups/"+group, nil, admin).want(http.StatusOK)
	}
	return admin, mia
}

func TestWhoJoinsATeamReadsItsKnowledgeWithTheSameKey(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin, mia := w.company()
		w.ask("POST", "/v1/knowledge", object{
			"id": "window", "type": "plan", "content": "Deploy on Tuesdays.",
			"owner": "team:pay", "scopes": []string{"team:pay"},
		}, admin).want(http.StatusCreated)
		w.ask("GET", "/v1/knowledge/window", nil, mia).want(http.StatusNotFound)

		const membership = "/v1/directory/user:mia/groups/project:retries"
		w.ask("PUT", membership, nil, mia).want(http.StatusForbidden)
		joined := w.ask("PUT", membership, object{"role": "maintainer"}, admin).want(http.StatusOK).json()
		like(t, joined, object{"member": "user:mia", "groups": []any{
			object{"group": "project:retries", "role": "maintainer"},
			object{"group": "team:pay", "role": "member", "through": "project:retries"},
			object{"group": "org:acme", "through": "team:pay"},
		}})
		w.ask("GET", "/v1/knowledge/window", nil, mia).want(http.StatusOK)
		found := w.ask("POST", "/v1/search", object{"query": "when do we deploy?"}, mia).want(http.StatusOK).json()
		like(t, found["items"], []any{object{"scope": "team:pay"}})
		like(t, w.ask("GET", "/v1/whoami", nil, mia).want(http.StatusOK).json(), object{
			"memberships": []any{"project:retries", "team:pay", "org:acme"}, "groups": []any{object{"role": "maintainer"}, object{}, object{}},
		})
		w.ask("POST", "/v1/knowledge", object{
			"type": "plan", "content": "Not on Fridays.", "owner": "team:pay",
			"scopes": []string{"team:pay"},
		}, mia).want(http.StatusCreated)

		w.ask("PUT", "/v1/directory/user:olga/groups/project:retries", nil, mia).want(http.StatusOK) // by a maintainer
		like(t, w.ask("GET", "/v1/directory/project:retries", nil, mia).want(http.StatusOK).json()["members"], []any{
			object{"member": "user:mia", "role": "maintainer"}, object{"member": "user:olga", "role": "member"},
		})
		w.ask("DELETE", membership, object{"reason": "another project"}, mia).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge/window", nil, mia).want(http.StatusNotFound)
	})
}

func TestAnAgentThatActsForAMemberReadsWhatTheMemberReads(t *testing.T) {
	eachKeyed(t, func(_ *testing.T, w *world, _ *time.Duration) {
		admin, _ := w.company()
		key := func(of object) header {
			return bearer(w.ask("POST", "/v1/keys", of, admin).want(http.StatusCreated).json()["key"].(string))
		}
		platform := key(object{"subject": "agent:platform", "role": "service", "acts_for": true})
		builder := key(object{"subject": "agent:builder", "acts_for": true, "memberships": []string{"team:build"}})
		const forMia header = "Annals-On-Behalf-Of: user:mia"
		for id, scope := range map[string]string{"window": "team:pay", "secret": "team:build", "note": "user:olga"} {
			w.ask("POST", "/v1/knowledge", object{
				"id": id, "type": "plan", "content": "About " + id, "owner": scope,
				"scopes": []string{scope},
			}, admin).want(http.StatusCreated)
		}
		w.ask("PUT", "/v1/directory/user:mia/groups/team:pay", nil, admin).want(http.StatusOK)
		for _, agent := range []header{platform, builder} {
			w.ask("GET", "/v1/knowledge/window", nil, agent, forMia).want(http.StatusOK)
			w.ask("GET", "/v1/knowledge/secret", nil, agent, forMia).want(http.StatusNotFound)
			w.ask("GET", "/v1/knowledge/note", nil, agent, forMia).want(http.StatusNotFound)
			w.ask("POST", "/v1/search", object{"query": "about", "context": object{"team_id": "build"}}, agent, forMia).
				want(http.StatusForbidden)
			w.ask("POST", "/v1/knowledge", object{
				"type": "plan", "content": "For others", "owner": "user:mia",
				"scopes": []string{"team:build"},
			}, agent, forMia).want(http.StatusForbidden)
		}
	})
}

func TestAKeyMayBeForSomeOnlyAndRefusalsNameThem(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin, _ := w.company()
		made := w.ask("POST", "/v1/keys", object{
			"subject": "agent:coder", "role": "service", "acts_for_only": []string{"user:zoe", "team:pay"},
		}, admin).want(http.StatusCreated).json()
		like(t, made, object{"acts_for": true, "acts_for_only": []any{"user:zoe", "team:pay"}})
		coder := bearer(made["key"].(string))
		as := func(e string) header { return header("Annals-On-Behalf-Of: " + e) }
		w.ask("POST", "/v1/knowledge", object{"id": "note", "type": "plan", "content": "Hers", "owner": "user:olga"}, admin).
			want(http.StatusCreated)
		w.ask("GET", "/v1/whoami", nil, coder, as("user:zoe")).want(http.StatusOK)
		w.ask("GET", "/v1/whoami", nil, coder, as("team:pay")).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge/note", nil, coder).want(http.StatusNotFound) // the role reaches no further
		refused := w.ask("GET", "/v1/whoami", nil, coder, as("user:mia")).want(http.StatusForbidden).json()
		like(t, refused, object{
			"detail": "the key lets agent:coder act only on behalf of user:zoe, team:pay, not of user:mia",
		})

		w.ask("PUT", "/v1/directory/user:mia/groups/project:retries", nil, admin).want(http.StatusOK)
		like(t, w.ask("GET", "/v1/whoami", nil, coder, as("user:mia")).want(http.StatusOK).json(), object{
			"acts_for": true, "acts_for_only": []any{"user:zoe", "team:pay"},
		})
		readers := func(scope string) (reasons []any) {
			report := w.ask("GET", "/v1/reports/access?scope="+scope, nil, admin).want(http.StatusOK).json()
			for _, r := range report["items"].([]any) {
				if one := r.(object); one["subject"] == "agent:coder" {
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
		rotated := w.ask("POST", "/v1/keys/"+made["prefix"].(string)+"/rotate", nil, admin).want(http.StatusCreated).json()
		like(t, rotated, object{"acts_for_only": []any{"user:zoe", "team:pay"}})
		w.ask("POST", "/v1/keys", object{"subject": "agent:x", "acts_for_only": []string{"mia"}}, admin).
			want(http.StatusUnprocessableEntity)
	})
}

func TestADeactivatedMemberMayDoNothingAtOnce(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin, mia := w.company()
		agent := bearer(w.ask("POST", "/v1/keys", object{"subject": "agent:platform", "role": "service", "acts_for": true}, admin).
			want(http.StatusCreated).json()["key"].(string))
		w.ask("POST", "/v1/knowledge", object{"id": "a", "type": "plan", "content": "Mine"}, mia).want(http.StatusCreated)
		done := w.ask("POST", "/v1/directory/user:mia/deactivate", object{"reason": "she left"}, admin).want(http.StatusOK).json()
		like(t, done, object{"active": false, "owns": 1.0})
		acts := []object{
			{"id": "a", "act": "transfer"},
			{"id": "a", "act": "transfer", "owner": "bob"},
			{"id": "a", "act": "stale", "owner": "user:bob"},
			{"id": "a", "act": "transfer", "owner": "team:pay", "reason": "she left"},
		}
		for i, line := range w.ask("POST", "/v1/knowledge/acts", acts, admin).want(http.StatusOK).lines() {
			want := object{"error": object{"errors": []any{object{"field": "owner"}}}}
			if i == 3 {
				want = object{"status": "revised"}
			}
			like(t, line, want)
		}
		like(t, w.ask("GET", "/v1/knowledge/a", nil, admin).json(), object{"owner": "team:pay"})
		if revoked, _ := done["revoked_keys"].([]any); len(revoked) != 1 {
			t.Errorf("revoked %v", done["revoked_keys"])
		}
		w.ask("GET", "/v1/whoami", nil, mia).want(http.StatusUnauthorized)
		w.ask("GET", "/v1/whoami", nil, agent, "Annals-On-Behalf-Of: user:mia").want(http.StatusUnauthorized)
		w.ask("GET", "/v1/knowledge/a", nil, admin).want(http.StatusOK) // what she recorded stays
		w.ask("POST", "/v1/directory/user:mia/reactivate", nil, admin).want(http.StatusOK)
		w.ask("GET", "/v1/whoami", nil, agent, "Annals-On-Behalf-Of: user:mia").want(http.StatusOK)
		w.ask("GET", "/v1/whoami", nil, mia).want(http.StatusUnauthorized) // her key stays revoked

		// a crash before the revocation of the keys
		made := w.ask("POST", "/v1/keys", object{"subject": "user:ben"}, admin).want(http.StatusCreated).json()
		ben := domain.OfDirectory{By: olga, Member: "user:ben"}
		w.record(domain.PutMember{OfDirectory: ben}, domain.DeactivateMember{OfDirectory: ben})
		w.ask("POST", "/v1/keys", object{"subject": "user:ben"}, admin).want(http.StatusConflict)
		w.record(domain.DeactivateMember{OfDirectory: ben, Again: true})
		w.ask("GET", "/v1/whoami", nil, bearer(made["key"].(string))).want(http.StatusUnauthorized)
		w.ask("POST", "/v1/keys/"+made["prefix"].(string)+"/rotate", nil, admin).want(http.StatusConflict)
	})
}

var olga = domain.Principal{Tenant: domain.DefaultTenant, Subject: "user:olga", Role: domain.Admin}

// record decides commands, and records what follows.
func (w *world) record(all ...domain.Command) {
	w.t.Helper()
	submissions := make([]domain.Submission, len(all))
	for i, c := range all {
		submissions[i] = domain.Submission{By: olga, Command: c}
	}
	for i, result := range w.log.SubmitAll(w.t.Context(), submissions) {
		if result.Err != nil {
			w.t.Fatalf("%+v: %v", all[i], result.Err)
		}
	}
}

func TestAMemberMayBelongToHundredsOfGroups(t *testing.T) {
	eachKeyed(t, func(_ *testing.T, w *world, _ *time.Duration) {
		admin, _ := w.company()
		mia := bearer(w.ask("POST", "/v1/keys", object{"subject": "user:mia", "memberships": []string{"team:over"}}, admin).
			want(http.StatusCreated).json()["key"].(string))
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
		w.followPast()
		over := domain.OfDirectory{By: olga, Member: "team:over"}
		w.record(append(all, domain.PutMember{OfDirectory: over}, domain.DeactivateMember{OfDirectory: over})...)
		for id, scope := range map[string]string{"a": "org:99", "b": "team:over"} {
			w.ask("POST", "/v1/knowledge", object{
				"id": id, "type": "plan", "content": "Deploy on Tuesdays.", "owner": scope, "scopes": []string{scope},
			}, admin).want(http.StatusCreated)
		}
		w.ask("GET", "/v1/knowledge/a", nil, mia).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge/b", nil, mia).want(http.StatusNotFound) // her key states a deactivated group
		for _, path := range []string{
			"knowledge", "knowledge?sort=updated", "knowledge?status=deleted", "knowledge?uri=viking://", "knowledge?as_of=600",
			"knowledge/a/history", "overview", "events", "events/histogram", "reviews", "reports/health", "sessions",
		} {
			w.ask("GET", "/v1/"+path, nil, mia).want(http.StatusOK)
		}
		found := w.ask("POST", "/v1/search", object{"query": "when do we deploy?"}, mia).want(http.StatusOK).json()
		like(w.t, found["items"], []any{object{"scope": "org:99"}})
	})
}

func TestMembersAreListedInPagesAndRefusalsNameWhatIsWrong(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin, _ := w.company()
		w.ask("PUT", "/v1/directory/user:zoe", object{"display_name": "佐伊"}, admin).want(http.StatusOK)
		page := w.ask("GET", "/v1/directory?kind=user&limit=2", nil, admin).want(http.StatusOK).json()
		like(t, page, object{"items": []any{object{"member": "user:mia"}, object{"member": "user:olga"}}})
		rest := w.ask("GET", "/v1/directory?kind=user&limit=2&cursor="+page["next_cursor"].(string), nil, admin).want(http.StatusOK).json()
		like(t, rest, object{"items": []any{object{"member": "user:zoe", "display_name": "佐伊"}}})
		found := w.ask("GET", "/v1/directory?kind=user&limit=1&q=%E4%BD%90", nil, admin).want(http.StatusOK).json()
		like(t, found, object{"items": []any{object{"member": "user:zoe"}}})
		w.ask("GET", "/v1/directory?kind=boss&limit=0&cursor=x", nil, admin).want(http.StatusUnprocessableEntity)
		w.ask("GET", "/v1/directory/user:nobody", nil, admin).want(http.StatusNotFound)
		w.ask("PUT", "/v1/directory/zoe", nil, admin).want(http.StatusUnprocessableEntity)
		w.ask("PUT", "/v1/directory/user:zoe/groups/user:mia", object{"role": "boss"}, admin).want(http.StatusUnprocessableEntity)
		w.ask("PUT", "/v1/directory/user:zoe/groups/team:none", nil, admin).want(http.StatusNotFound)
		w.ask("PUT", "/v1/directory/org:acme/groups/project:retries", nil, admin).want(http.StatusConflict) // a cycle
		like(t, w.ask("PUT", "/v1/directory/user:zoe", nil, admin).want(http.StatusOK).header.Get("Annals-Outcome"), "unchanged")
	})
}

func TestAMaintainerConfirmsWhatItsGroupReads(t *testing.T) {
	eachKeyed(t, func(_ *testing.T, w *world, _ *time.Duration) {
		admin, mia := w.company()
		for _, id := range []string{"window", "newer"} {
			w.ask("POST", "/v1/knowledge", object{
				"id": id, "type": "plan", "content": "Deploy on Tuesdays: " + id, "owner": "user:olga", "scopes": []string{"team:pay"},
			}, admin).want(http.StatusCreated)
		}
		w.ask("PUT", "/v1/directory/user:mia/groups/team:pay", nil, admin).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/window/confirm", nil, mia).want(http.StatusForbidden)
		w.ask("PUT", "/v1/directory/user:mia/groups/team:pay", object{"role": "maintainer"}, admin).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/window/confirm", nil, mia).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/window/supersede", object{"by": "newer"}, mia).want(http.StatusOK)
		w.ask("DELETE", "/v1/knowledge/newer", nil, mia).want(http.StatusForbidden)
	})
}

// A chain of groups is as long as may be, wherever it grows: at its lower end, at its upper end, or in its middle.
func TestAChainOfGroupsHasOneLimit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		join := func(member, group int, status int) {
			t.Helper()
			w.ask("PUT", fmt.Sprintf("/v1/directory/team:g%d/groups/team:g%d", member, group), nil).want(status)
		}
		for i := range 20 {
			w.ask("PUT", fmt.Sprintf("/v1/directory/team:g%d", i), nil).want(http.StatusOK)
		}
		for i := 1; i < 16; i++ { // from g1 up to g16
			join(i, i+1, http.StatusOK)
		}
		join(16, 17, http.StatusConflict)
		join(0, 1, http.StatusConflict)
		join(18, 19, http.StatusOK)
		join(19, 2, http.StatusConflict) // g18 would lie below 16 groups
		join(19, 3, http.StatusOK)
		w.ask("PUT", "/v1/directory/user:mia", nil).want(http.StatusOK)
		w.ask("PUT", "/v1/directory/user:mia/groups/team:g1", nil).want(http.StatusOK)
		mia := w.ask("GET", "/v1/directory/user:mia", nil).want(http.StatusOK).json()
		same(t, len(mia["groups"].([]any)), 16, "groups of the lowest member")
	})
}
