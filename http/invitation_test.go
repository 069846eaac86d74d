package http_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// An invitation gives its holder one key, whatever they send and however many of them send it.
func TestAnInvitationGivesOneKey(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, ahead *time.Duration) {
		soon := time.Now().Add(time.Hour)
		w.ask("POST", "/v1/keys", object{"subject": "user:olga", "role": "admin", "invitation": true, "expires_at": soon}).
			want(http.StatusConflict) // nobody would have a key
		olga := w.given("", object{"subject": "user:olga", "role": "admin"})
		asked := object{"subject": "user:mia", "role": "auditor", "memberships": []string{"team:pay"}, "invitation": true}
		w.ask("POST", "/v1/keys", asked, bearer(olga)).want(http.StatusUnprocessableEntity) // without an end
		asked["expires_at"] = soon
		code := w.given(olga, asked)
		prefix := strings.Split(code, "_")[1]

		for _, other := range []string{
			"GET /v1/whoami", "GET /v1/knowledge", "GET /v1/keys", "POST /v1/keys/" + prefix + "/rotate", "DELETE /v1/keys/" + prefix,
		} {
			method, path, _ := strings.Cut(other, " ")
			w.ask(method, path, nil, bearer(code)).want(http.StatusForbidden)
		}
		readers := w.ask("GET", "/v1/reports/access?scope=team:pay", nil, bearer(olga)).want(http.StatusOK)
		if strings.Contains(string(readers.body), "user:mia") {
			t.Errorf("an invitation reads: %s", readers.body)
		}
		invited := object{
			"prefix": prefix, "subject": "user:mia", "role": "auditor", "memberships": []any{"team:pay"},
			"invited_by": "user:olga", "key": nil, "replaced_by": nil,
		}
		like(t, w.ask("GET", "/v1/invitation", nil, bearer(code)).want(http.StatusOK).json(), invited)
		like(t, w.ask("GET", "/v1/keys", nil, bearer(olga)).want(http.StatusOK).items()[1], invited)

		opened := make(chan object, 20)
		got := race(func(int) []*answer {
			a := w.ask("POST", "/v1/invitation", nil, bearer(code))
			if a.status == http.StatusCreated {
				opened <- a.json()
			}
			return []*answer{a}
		})
		only(t, got, http.StatusCreated, http.StatusUnauthorized, http.StatusConflict)
		same(t, got[http.StatusCreated], 1, "keys from one invitation")
		made := <-opened
		like(t, made, object{"subject": "user:mia", "replaces": prefix, "expires_at": nil, "invited_by": nil})
		w.ask("GET", "/v1/invitation", nil, bearer(code)).want(http.StatusUnauthorized)
		*ahead = 2 * time.Hour // the end of an invitation is not that of the key
		me := w.ask("GET", "/v1/whoami", nil, bearer(made["key"].(string))).want(http.StatusOK).json()
		like(t, me, object{"subject": "user:mia", "role": "auditor", "memberships": []any{"team:pay"}})
		history := w.logged("key:"+prefix, bearer(olga))
		same(t, len(history), 2, "events of an invitation")
		like(t, history[0], object{"name": "key.created", "actor": "user:olga", "data": object{"invitation": true}})
		like(t, history[1], object{"name": "key.rotated", "actor": "user:mia", "data": object{"by": made["prefix"]}})
	})
}

func TestAnInvitationThatIsNotValidGivesNoKey(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, ahead *time.Duration) {
		olga := w.given("", object{"subject": "user:olga", "role": "admin"})
		asked := object{"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(time.Hour)}
		revoked, expired := w.given(olga, asked), w.given(olga, asked)
		w.ask("DELETE", "/v1/keys/"+strings.Split(revoked, "_")[1], nil, bearer(olga)).want(http.StatusOK)
		w.ask("POST", "/v1/invitation", nil, bearer(revoked)).want(http.StatusUnauthorized)
		w.ask("POST", "/v1/invitation", nil, bearer(olga)).want(http.StatusNotFound)
		asked["role"] = "root"
		w.ask("POST", "/v1/keys", asked, bearer(olga)).want(http.StatusForbidden)
		*ahead = 2 * time.Hour
		w.ask("POST", "/v1/invitation", nil, bearer(expired)).want(http.StatusUnauthorized)
		same(t, len(w.ask("GET", "/v1/keys", nil, bearer(olga)).want(http.StatusOK).items()), 3, "keys")
	})
}

// An invitation allows no more than its inviter does now: it ends with their key, their role and their membership.
func TestAnInvitationEndsWithItsInviter(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, ahead *time.Duration) {
		rita := w.given("", object{"subject": "user:rita", "role": "admin"})
		admin := bearer(rita)
		month := 30 * 24 * time.Hour
		asked := object{"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(2 * month)}
		prefixOf := func(key string) string { return strings.Split(key, "_")[1] }
		stateOf := func(key, want string) {
			t.Helper()
			keys := w.ask("GET", "/v1/keys", nil, admin).want(http.StatusOK).items()
			for _, k := range keys {
				if k["prefix"] == prefixOf(key) {
					same(t, k["state"], any(want), "state in the list")
				}
			}
		}
		for name, end := range map[string]func(inviter string){
			"revoked": func(key string) { w.ask("DELETE", "/v1/keys/"+prefixOf(key), nil, admin).want(http.StatusOK) },
			"returned": func(string) {
				w.ask("PUT", "/v1/directory/user:returned", nil, admin).want(http.StatusOK)
				w.ask("POST", "/v1/directory/user:returned/deactivate", nil, admin).want(http.StatusOK)
				w.ask("POST", "/v1/directory/user:returned/reactivate", nil, admin).want(http.StatusOK)
			},
			"removed": func(string) {
				w.ask("PUT", "/v1/directory/user:removed", nil, admin).want(http.StatusOK)
				w.ask("POST", "/v1/directory/user:removed/deactivate", nil, admin).want(http.StatusOK)
			},
			"rotated and revoked": func(key string) {
				next := w.ask("POST", "/v1/keys/"+prefixOf(key)+"/rotate", object{"overlap": 0}, admin).want(http.StatusCreated).json()
				w.ask("DELETE", "/v1/keys/"+next["prefix"].(string), nil, admin).want(http.StatusOK)
			},
		} {
			inviter := w.given(rita, object{"subject": "user:" + strings.Fields(name)[0], "role": "admin"})
			code := w.given(inviter, asked)
			w.ask("GET", "/v1/invitation", nil, bearer(code)).want(http.StatusOK)
			stateOf(code, "invited")
			end(inviter)
			stateOf(code, "ended")
			for _, method := range []string{"GET", "POST"} {
				refused := w.ask(method, "/v1/invitation", nil, bearer(code)).want(http.StatusUnauthorized).json()
				like(t, refused, object{"detail": "the invitation has ended, since user:" + strings.Fields(name)[0] + " may not invite any more"})
			}
		}
		inviter := w.given(rita, object{"subject": "user:olga", "role": "admin"})
		code := w.given(inviter, asked)
		w.ask("POST", "/v1/keys/"+prefixOf(inviter)+"/rotate", object{"overlap": 0}, admin).want(http.StatusCreated)
		w.ask("GET", "/v1/invitation", nil, bearer(code)).want(http.StatusOK) // the right to invite passes to the next key
		w.ask("POST", "/v1/keys/"+prefixOf(code)+"/rotate", nil, admin).want(http.StatusConflict)
		stateOf(code, "invited")
		*ahead = month
		w.ask("GET", "/v1/invitation", nil, bearer(code)).want(http.StatusUnauthorized)
		stateOf(code, "ended")
	})
}

// Who revokes an invitation ends all that it gave, even if it is opened at that moment.
func TestARevokedInvitationTakesItsKeyAlong(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		olga := bearer(w.given("", object{"subject": "user:olga", "role": "admin"}))
		asked := object{"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(time.Hour)}
		for range 5 {
			made := w.ask("POST", "/v1/keys", asked, olga).want(http.StatusCreated).json()
			code, prefix := bearer(made["key"].(string)), made["prefix"].(string)
			opened := make(chan *answer, 1)
			go func() { opened <- w.ask("POST", "/v1/invitation", nil, code) }()
			revoked := w.ask("DELETE", "/v1/keys/"+prefix, nil, olga).want(http.StatusOK)
			if revoked.json()["revoked_at"] == nil {
				t.Errorf("not revoked: %s", revoked.body)
			}
			if got := <-opened; got.status == http.StatusCreated {
				w.ask("GET", "/v1/whoami", nil, bearer(got.json()["key"].(string))).want(http.StatusUnauthorized)
			}
		}
		made := w.ask("POST", "/v1/keys", asked, olga).want(http.StatusCreated).json()
		first := w.ask("POST", "/v1/invitation", nil, bearer(made["key"].(string))).want(http.StatusCreated).json()
		next := w.ask("POST", "/v1/keys/"+first["prefix"].(string)+"/rotate", nil, olga).want(http.StatusCreated).json()
		w.ask("DELETE", "/v1/keys/"+made["prefix"].(string), nil, olga).want(http.StatusOK)
		for _, key := range []object{first, next} {
			w.ask("GET", "/v1/whoami", nil, bearer(key["key"].(string))).want(http.StatusUnauthorized)
		}
	})
}
