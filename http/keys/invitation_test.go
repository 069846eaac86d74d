package keys_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/annals-kb/annals/http/servertest"
)

// An invitation gives its holder one key, whatever they send and however many of them send it.
func TestAnInvitationGivesOneKey(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		soon := time.Now().Add(time.Hour)
		w.Ask("POST", "/v1/keys", Object{"subject": "user:olga", "role": "admin", "invitation": true, "expires_at": soon}).
			Want(http.StatusConflict) // nobody would have a key
		olga := w.Admin()
		asked := Object{"subject": "user:mia", "role": "auditor", "memberships": []string{"team:pay"}, "invitation": true}
		w.Ask("POST", "/v1/keys", asked, Bearer(olga)).Want(http.StatusUnprocessableEntity) // without an end
		asked["expires_at"] = soon
		code := w.Given(olga, asked)
		prefix := PrefixOf(code)

		for _, other := range []string{
			"GET /v1/whoami", "GET /v1/knowledge", "GET /v1/keys", "POST /v1/keys/" + prefix + "/rotate", "DELETE /v1/keys/" + prefix,
		} {
			method, path, _ := strings.Cut(other, " ")
			w.Ask(method, path, nil, Bearer(code)).Want(http.StatusForbidden)
		}
		readers := w.Ask("GET", "/v1/reports/access?scope=team:pay", nil, Bearer(olga)).Want(http.StatusOK)
		if strings.Contains(string(readers.Body), "user:mia") {
			t.Errorf("an invitation reads: %s", readers.Body)
		}
		invited := Object{
			"prefix": prefix, "subject": "user:mia", "role": "auditor", "memberships": []any{"team:pay"},
			"invited_by": "user:olga", "key": nil, "replaced_by": nil,
		}
		Like(t, w.Ask("GET", "/v1/invitation", nil, Bearer(code)).Want(http.StatusOK).JSON(), invited)
		Like(t, w.Ask("GET", "/v1/keys", nil, Bearer(olga)).Want(http.StatusOK).Items()[1], invited)

		opened := make(chan Object, 20)
		got := Race(func(int) []*Answer {
			a := w.Ask("POST", "/v1/invitation", nil, Bearer(code))
			if a.Status == http.StatusCreated {
				opened <- a.JSON()
			}
			return []*Answer{a}
		})
		Only(t, got, http.StatusCreated, http.StatusUnauthorized, http.StatusConflict)
		Same(t, got[http.StatusCreated], 1, "keys from one invitation")
		made := <-opened
		Like(t, made, Object{"subject": "user:mia", "replaces": prefix, "expires_at": nil, "invited_by": nil})
		w.Ask("GET", "/v1/invitation", nil, Bearer(code)).Want(http.StatusUnauthorized)
		w.Ahead(2 * time.Hour) // the end of an invitation is not that of the key
		me := w.Ask("GET", "/v1/whoami", nil, Bearer(made["key"].(string))).Want(http.StatusOK).JSON()
		Like(t, me, Object{"subject": "user:mia", "role": "auditor", "memberships": []any{"team:pay"}})
		history := w.Logged("key:"+prefix, Bearer(olga))
		Same(t, len(history), 2, "events of an invitation")
		Like(t, history[0], Object{"name": "key.created", "actor": "user:olga", "data": Object{"invitation": true}})
		Like(t, history[1], Object{"name": "key.rotated", "actor": "user:mia", "data": Object{"by": made["prefix"]}})
	})
}

func TestAnInvitationThatIsNotValidGivesNoKey(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		olga := w.Admin()
		asked := Object{"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(time.Hour)}
		revoked, expired := w.Given(olga, asked), w.Given(olga, asked)
		w.Ask("DELETE", "/v1/keys/"+PrefixOf(revoked), nil, Bearer(olga)).Want(http.StatusOK)
		w.Ask("POST", "/v1/invitation", nil, Bearer(revoked)).Want(http.StatusUnauthorized)
		w.Ask("POST", "/v1/invitation", nil, Bearer(olga)).Want(http.StatusNotFound)
		asked["role"] = "root"
		w.Ask("POST", "/v1/keys", asked, Bearer(olga)).Want(http.StatusForbidden)
		w.Ahead(2 * time.Hour)
		w.Ask("POST", "/v1/invitation", nil, Bearer(expired)).Want(http.StatusUnauthorized)
		Same(t, len(w.Ask("GET", "/v1/keys", nil, Bearer(olga)).Want(http.StatusOK).Items()), 3, "keys")
	})
}

// An invitation allows no more than its inviter does now: it ends with their key, their role and their membership.
func TestAnInvitationEndsWithItsInviter(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		rita := w.Given("", Object{"subject": "user:rita", "role": "admin"})
		admin := Bearer(rita)
		month := 30 * 24 * time.Hour
		asked := Object{"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(2 * month)}
		prefixOf := func(key string) string { return PrefixOf(key) }
		stateOf := func(key, want string) {
			t.Helper()
			keys := w.Ask("GET", "/v1/keys", nil, admin).Want(http.StatusOK).Items()
			for _, k := range keys {
				if k["prefix"] == prefixOf(key) {
					Same(t, k["state"], any(want), "state in the list")
				}
			}
		}
		for name, end := range map[string]func(inviter string){
			"revoked": func(key string) { w.Ask("DELETE", "/v1/keys/"+prefixOf(key), nil, admin).Want(http.StatusOK) },
			"returned": func(string) {
				w.Ask("PUT", "/v1/directory/user:returned", nil, admin).Want(http.StatusOK)
				w.Ask("POST", "/v1/directory/user:returned/deactivate", nil, admin).Want(http.StatusOK)
				w.Ask("POST", "/v1/directory/user:returned/reactivate", nil, admin).Want(http.StatusOK)
			},
			"removed": func(string) {
				w.Ask("PUT", "/v1/directory/user:removed", nil, admin).Want(http.StatusOK)
				w.Ask("POST", "/v1/directory/user:removed/deactivate", nil, admin).Want(http.StatusOK)
			},
			"rotated and revoked": func(key string) {
				next := w.Ask("POST", "/v1/keys/"+prefixOf(key)+"/rotate", Object{"overlap": 0}, admin).Want(http.StatusCreated).JSON()
				w.Ask("DELETE", "/v1/keys/"+next["prefix"].(string), nil, admin).Want(http.StatusOK)
			},
		} {
			inviter := w.Given(rita, Object{"subject": "user:" + strings.Fields(name)[0], "role": "admin"})
			code := w.Given(inviter, asked)
			w.Ask("GET", "/v1/invitation", nil, Bearer(code)).Want(http.StatusOK)
			stateOf(code, "invited")
			end(inviter)
			stateOf(code, "ended")
			for _, method := range []string{"GET", "POST"} {
				refused := w.Ask(method, "/v1/invitation", nil, Bearer(code)).Want(http.StatusUnauthorized).JSON()
				Like(t, refused, Object{"detail": "the invitation has ended, since user:" + strings.Fields(name)[0] + " may not invite any more"})
			}
		}
		inviter := w.Given(rita, Object{"subject": "user:olga", "role": "admin"})
		code := w.Given(inviter, asked)
		w.Ask("POST", "/v1/keys/"+prefixOf(inviter)+"/rotate", Object{"overlap": 0}, admin).Want(http.StatusCreated)
		w.Ask("GET", "/v1/invitation", nil, Bearer(code)).Want(http.StatusOK) // the right to invite passes to the next key
		w.Ask("POST", "/v1/keys/"+prefixOf(code)+"/rotate", nil, admin).Want(http.StatusConflict)
		stateOf(code, "invited")
		w.Ahead(month)
		w.Ask("GET", "/v1/invitation", nil, Bearer(code)).Want(http.StatusUnauthorized)
		stateOf(code, "ended")
	})
}

// Who revokes an invitation ends all that it gave, even if it is opened at that moment.
func TestARevokedInvitationTakesItsKeyAlong(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		olga := Bearer(w.Admin())
		asked := Object{"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(time.Hour)}
		for range 5 {
			made := w.Ask("POST", "/v1/keys", asked, olga).Want(http.StatusCreated).JSON()
			code, prefix := Bearer(made["key"].(string)), made["prefix"].(string)
			opened := make(chan *Answer, 1)
			go func() { opened <- w.Ask("POST", "/v1/invitation", nil, code) }()
			revoked := w.Ask("DELETE", "/v1/keys/"+prefix, nil, olga).Want(http.StatusOK)
			if revoked.JSON()["revoked_at"] == nil {
				t.Errorf("not revoked: %s", revoked.Body)
			}
			if got := <-opened; got.Status == http.StatusCreated {
				w.Ask("GET", "/v1/whoami", nil, Bearer(got.JSON()["key"].(string))).Want(http.StatusUnauthorized)
			}
		}
		made := w.Ask("POST", "/v1/keys", asked, olga).Want(http.StatusCreated).JSON()
		first := w.Ask("POST", "/v1/invitation", nil, Bearer(made["key"].(string))).Want(http.StatusCreated).JSON()
		next := w.Ask("POST", "/v1/keys/"+first["prefix"].(string)+"/rotate", nil, olga).Want(http.StatusCreated).JSON()
		w.Ask("DELETE", "/v1/keys/"+made["prefix"].(string), nil, olga).Want(http.StatusOK)
		for _, key := range []Object{first, next} {
			w.Ask("GET", "/v1/whoami", nil, Bearer(key["key"].(string))).Want(http.StatusUnauthorized)
		}
	})
}
