package operate_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	. "github.com/annals-kb/annals/http/servertest"
)

// team is a team whose policy asks for approval: an admin, a maintainer, a member, an agent that acts for the member,
// and an agent of its own.
type team struct {
	*World
	admin, mia, ben, coder, robot Header
}

// forBen lets the agent act for the member.
const forBen Header = "Annals-On-Behalf-Of: user:ben"

func eachTeam(t *testing.T, approve []string, test func(t *testing.T, w team)) {
	t.Helper()
	EachWith(t, Configure(func(w *World, cfg *Config) { Rooted(w, cfg); Rebuilding(w, cfg) }), func(t *testing.T, w *World) {
		admin := Bearer(w.Given(RootKey, Object{"subject": "user:olga", "role": "admin"}))
		for _, member := range []string{"user:mia", "user:ben", "team:pay"} {
			w.Ask("PUT", "/v1/directory/"+member, nil, admin).Want(http.StatusOK)
		}
		key := func(key Object) Header {
			return Bearer(w.Ask("POST", "/v1/keys", key, admin).Want(http.StatusCreated).JSON()["key"].(string))
		}
		mia := key(Object{"subject": "user:mia"})
		w.Ask("PUT", "/v1/directory/user:mia/groups/team:pay", Object{"role": "maintainer"}, admin).Want(http.StatusOK)
		w.Ask("PUT", "/v1/directory/user:ben/groups/team:pay", nil, admin).Want(http.StatusOK)
		it := team{
			w, admin, mia, key(Object{"subject": "user:ben"}),
			key(Object{"subject": "agent:coder", "memberships": []string{"team:pay"}, "acts_for": true}),
			key(Object{"subject": "agent:robot", "memberships": []string{"team:pay"}}),
		}
		w.Ask("PUT", "/v1/verification/team:pay", Object{"approve": approve}, mia).Want(http.StatusOK)
		test(t, it)
	})
}

func item(id string, more ...Object) Object {
	k := Object{"id": id, "type": "strategy", "content": "Says " + id + ".", "scopes": []string{"team:pay"}}
	for _, o := range more {
		maps.Copy(k, o)
	}
	return k
}

func TestWhatAPolicyListsIsProposed(t *testing.T) {
	for name, approve := range map[string][]string{
		"nothing": {}, "agents": {"personal_agent", "agent"}, "imports and outside": {"import", "outside"}, "people": {"person"},
	} {
		t.Run(name, func(t *testing.T) {
			eachTeam(t, approve, func(t *testing.T, w team) {
				for trust, write := range map[string]struct {
					item    Object
					headers []Header
					writer  string
				}{
					"person":         {item("by-ben"), []Header{w.ben}, "person"},
					"personal_agent": {item("for-ben"), []Header{w.coder, forBen}, "personal_agent"},
					"agent":          {item("by-robot"), []Header{w.robot}, "agent"},
					"import":         {item("imported", Object{"causation_id": "file:x.ndjson:1"}), []Header{w.ben}, "person"},
					"outside":        {item("page", Object{"source": Object{"urls": []string{"https://x.example"}}}), []Header{w.robot}, "agent"},
				} {
					want, outcome := "active", "created"
					if slices.Contains(approve, trust) || slices.Contains(approve, write.writer) {
						want, outcome = "proposed", "proposed"
					}
					a := w.Ask("POST", "/v1/knowledge", write.item, write.headers...).Want(http.StatusCreated)
					Same(t, a.Header.Get("Annals-Outcome"), outcome, trust)
					Like(t, a.JSON(), Object{"status": want, "trust": trust})
					write.item["id"] = trust + "-line"
					line := w.Ask("POST", "/v1/knowledge", []Object{write.item}, write.headers...).Want(http.StatusOK)
					Like(t, line.Lines()[0], Object{"status": outcome})
					if seen := w.Ask("GET", "/v1/knowledge/"+trust+"-line", nil, w.coder).Status == http.StatusOK; seen != (want == "active" || trust == "personal_agent") {
						t.Errorf("%s: another agent sees it: %t", trust, seen)
					}
				}
				elsewhere := w.Ask("POST", "/v1/knowledge", Object{"type": "plan", "content": "Mine."}, w.robot).Want(http.StatusCreated)
				Like(t, elsewhere.JSON(), Object{"status": "active"})
			})
		})
	}
}

func TestStewardsDecideOnProposals(t *testing.T) {
	eachTeam(t, []string{"personal_agent", "agent"}, func(t *testing.T, w team) {
		for _, id := range []string{"good", "edited", "bad"} {
			w.Ask("POST", "/v1/knowledge", item(id), w.robot).Want(http.StatusCreated)
		}
		for name, who := range map[string]struct {
			headers      []Header
			sees, decide int
		}{
			"the author": {[]Header{w.robot}, http.StatusOK, http.StatusForbidden},
			"a member":   {[]Header{w.ben}, http.StatusNotFound, http.StatusNotFound},
			"an agent":   {[]Header{w.coder, forBen}, http.StatusNotFound, http.StatusNotFound},
			"a session":  {[]Header{w.mia, "Annals-Host: claude-code/2"}, http.StatusOK, http.StatusForbidden},
			"a steward":  {[]Header{w.mia}, http.StatusOK, 0},
			"an admin":   {[]Header{w.admin}, http.StatusOK, 0},
		} {
			for _, id := range []string{"good", "bad"} {
				if got := w.Ask("GET", "/v1/knowledge/"+id, nil, who.headers...).Status; got != who.sees {
					t.Errorf("%s reads %s: %d", name, id, got)
				}
			}
			found := w.Ask("POST", "/v1/search", Object{"query": "says good"}, who.headers...).Want(http.StatusOK).Items()
			Same(t, len(found), 0, name, "finds it")
			waiting := w.Ask("GET", "/v1/reviews?queue=proposed", nil, who.headers...).Want(http.StatusOK).Items()
			if (len(waiting) == 3) != (who.sees == http.StatusOK) {
				t.Errorf("%s reviews %d", name, len(waiting))
			}
			if who.decide != 0 {
				w.Ask("POST", "/v1/knowledge/good/accept", nil, who.headers...).Want(who.decide)
				w.Ask("POST", "/v1/knowledge/bad/decline", Object{"reason": "no"}, who.headers...).Want(who.decide)
			}
		}
		Like(t, w.Ask("GET", "/v1/reviews?queue=proposed&mine=true", nil, w.mia).Want(http.StatusOK).Items()[0],
			Object{"assigned": Object{"to": []any{"user:mia"}, "why": "maintainer"}})

		// the author may still change it, and it waits
		revised := w.Ask("PATCH", "/v1/knowledge/edited", Object{"content": "Says more."}, w.robot).Want(http.StatusOK)
		Like(t, revised.JSON(), Object{"status": "proposed"})
		w.Ask("POST", "/v1/knowledge/edited/accept", Object{"content": "Says less."}, w.mia, `If-Match: "1"`).
			Want(http.StatusPreconditionFailed)
		accepted := w.Ask("POST", "/v1/knowledge/edited/accept", Object{"content": "Says less.", "reason": "shorter"}, w.mia).
			Want(http.StatusOK)
		Like(t, accepted.JSON(), Object{"status": "active", "content": "Says less.", "trust": "agent", "confirmed_at": Some{}})
		w.Ask("POST", "/v1/knowledge/good/accept", nil, w.admin).Want(http.StatusOK)
		for _, id := range []string{"good", "edited"} {
			Like(t, w.Ask("GET", "/v1/knowledge/"+id, nil, w.ben).Want(http.StatusOK).JSON(), Object{"status": "active"})
		}
		Like(t, w.Ask("GET", "/v1/knowledge/edited", nil, w.ben).Want(http.StatusOK).JSON(),
			Object{"verified": Object{"by": "user:mia"}})
		w.Ask("POST", "/v1/knowledge/good/decline", Object{"reason": "late"}, w.mia).Want(http.StatusConflict)

		w.Ask("POST", "/v1/knowledge/bad/decline", Object{"reason": " "}, w.mia).Want(http.StatusUnprocessableEntity)
		w.Ask("POST", "/v1/knowledge/bad/decline", Object{"reason": "it is wrong"}, w.mia).Want(http.StatusOK)
		told := w.Ask("GET", "/v1/events?stream=knowledge:bad", nil, w.robot).Want(http.StatusOK).Items()
		Like(t, told[len(told)-1], Object{"name": "knowledge.deleted", "text": Object{"reason": "it is wrong"}, "actor": "user:mia"})
		told = w.Ask("GET", "/v1/events?stream=knowledge:edited", nil, w.robot).Want(http.StatusOK).Items()
		Like(t, told[len(told)-1], Object{"name": "knowledge.accepted", "actor": "user:mia"})
		restored := w.Ask("POST", "/v1/knowledge/bad/restore", nil, w.robot).Want(http.StatusOK)
		Like(t, restored.JSON(), Object{"status": "proposed"})
		w.Ask("GET", "/v1/knowledge/bad", nil, w.ben).Want(http.StatusNotFound)

		before := w.Ask("GET", "/v1/knowledge?status=active,proposed,deleted", nil, w.admin).Want(http.StatusOK).Items()
		const rebuild = "/v1/projections/knowledge/rebuild"
		w.Ask("POST", rebuild, nil, Bearer(RootKey)).Want(http.StatusAccepted)
		databasetest.Until(t, "the rebuild ends", func() bool {
			last := w.Ask("GET", rebuild, nil, Bearer(RootKey)).Want(http.StatusOK).JSON()
			return last["progress"] == nil && last["state"] == "active"
		})
		Same(t, w.Ask("GET", "/v1/knowledge?status=active,proposed,deleted", nil, w.admin).Want(http.StatusOK).Items(), before)
	})
}

func TestAListedClassChangesNothingThatWasAccepted(t *testing.T) {
	eachTeam(t, []string{"personal_agent", "agent"}, func(t *testing.T, w team) {
		w.Ask("POST", "/v1/knowledge", item("known"), w.ben).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge", item("older"), w.ben).Want(http.StatusCreated)
		refused := w.Ask("PATCH", "/v1/knowledge/known", Object{"content": "Obey."}, w.coder, forBen).Want(http.StatusForbidden)
		Like(t, refused.JSON(), Object{"fix": Some{}})
		w.Ask("POST", "/v1/knowledge?update=true", item("known", Object{"content": "Obey."}), w.coder, forBen).Want(http.StatusForbidden)
		w.Ask("POST", "/v1/knowledge/known/merge", Object{"items": []string{"older"}, "content": "Obey."}, w.coder, forBen).
			Want(http.StatusForbidden)
		w.Ask("POST", "/v1/knowledge?supersedes=known", item("newer"), w.coder, forBen).Want(http.StatusConflict)
		own := w.Ask("POST", "/v1/knowledge", Object{"id": "own", "type": "plan", "content": "Obey."}, w.robot).Want(http.StatusCreated)
		Like(t, own.JSON(), Object{"status": "active"})
		w.Ask("PATCH", "/v1/knowledge/own", Object{"scopes": []string{"team:pay"}}, w.robot).Want(http.StatusForbidden)
		w.Ask("PATCH", "/v1/knowledge/known", Object{"content": "Better."}, w.ben).Want(http.StatusOK)

		w.Ask("PUT", "/v1/verification/team:pay", Object{"approve": []string{}}, w.admin).Want(http.StatusOK)
		w.Ask("PATCH", "/v1/knowledge/known", Object{"content": "Best."}, w.coder, forBen).Want(http.StatusOK)
		Like(t, w.Ask("GET", "/v1/verification", nil, w.mia).Want(http.StatusOK).JSON(), Object{"items": []any{}})
	})
}

func TestAPolicyKeepsWhatAChangeDoesNotName(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const path = "/v1/verification/team:pay"
		set := func(body Object) any { return w.Ask("PUT", path, body).Want(http.StatusOK).Items()[0] }
		Like(t, set(Object{"approve": []string{"outside", "agent"}}), Object{"approve": []any{"agent", "outside"}, "every_days": nil})
		Like(t, set(Object{"every_days": 30}), Object{"approve": []any{"agent", "outside"}, "every_days": 30.0})
		Like(t, set(Object{"approve": []string{}}), Object{"approve": nil, "every_days": 30.0})
		w.Ask("PUT", path, Object{}).Want(http.StatusUnprocessableEntity)
		w.Ask("PUT", path, Object{"approve": []string{"friends"}}).Want(http.StatusUnprocessableEntity)
		w.Remember("plan", "x")
		if w.Ask("GET", "/v1/knowledge/plan", nil).JSON()["verified"] != nil {
			t.Error("a policy of approval verifies")
		}
	})
}

func TestOfManyDecisionsOnAProposalOneCounts(t *testing.T) {
	eachTeam(t, []string{"agent"}, func(t *testing.T, w team) {
		w.Ask("POST", "/v1/knowledge", item("one"), w.robot).Want(http.StatusCreated)
		got := Race(func(client int) []*Answer {
			if client%2 == 0 {
				return []*Answer{w.Ask("POST", "/v1/knowledge/one/accept", nil, w.mia)}
			}
			return []*Answer{w.Ask("POST", "/v1/knowledge/one/decline", Object{"reason": "no"}, w.admin)}
		})
		Only(t, got, http.StatusOK, http.StatusConflict, http.StatusGone, http.StatusNotFound)
		Same(t, got[http.StatusOK], 1, "decisions")
		Same(t, len(w.Ask("GET", "/v1/events?stream=knowledge:one", nil, w.admin).Want(http.StatusOK).Items()), 2, "events")
	})
}
