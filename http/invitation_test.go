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
