package keys_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFromTheFirstKeyOnEverybodyNeedsOne(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		w.Ask("GET", "/v1/whoami", nil).Want(http.StatusOK)
		w.Ask("POST", "/v1/keys", Object{"subject": "user:bob"}).Want(http.StatusConflict) // nobody could give another
		admin := w.Admin()
		refused := w.Ask("GET", "/v1/whoami", nil).Want(http.StatusUnauthorized)
		Same(t, refused.Header.Get("WWW-Authenticate"), "Bearer")
		for _, wrong := range []Header{
			Bearer("nonsense"), Bearer(admin + "x"), Bearer(strings.Replace(admin, "_"+secretOf(admin)[:1], "_"+other(secretOf(admin)[:1]), 1)), Bearer(""), Header("Authorization: Basic " + admin),
			Bearer("annals_aaaaaaaaaa_" + secretOf(admin)), "X-API-Key: nonsense",
		} {
			w.Ask("GET", "/v1/whoami", nil, wrong).Want(http.StatusUnauthorized)
		}
		w.Ask("GET", "/v1/whoami", nil, Bearer(admin), "X-API-Key: other").Want(http.StatusUnauthorized)
		me := w.Ask("GET", "/v1/whoami", nil, "X-API-Key: "+Header(admin), "Authorization: Basic cHJveHk6cGFzcw==").Want(http.StatusOK).JSON()
		Like(t, me, Object{"subject": "user:olga", "role": "admin", "authentication": "key:" + PrefixOf(admin)})
		for _, open := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs"} {
			w.Ask("GET", open, nil).Want(http.StatusOK)
		}
		soon := time.Now().Add(time.Hour)
		mia := w.Given(admin, Object{"subject": "user:mia", "memberships": []string{"team:pay"}, "expires_at": soon, "note": "her laptop"})
		w.Ask("GET", "/v1/whoami", nil, Bearer(mia)).Want(http.StatusOK)
		w.Ahead(2 * time.Hour)
		w.Ask("GET", "/v1/whoami", nil, Bearer(mia)).Want(http.StatusUnauthorized)
		w.Ahead(0)
		for _, item := range w.Ask("GET", "/v1/keys", nil, Bearer(admin)).Want(http.StatusOK).Items() {
			Like(t, item, Object{"key": nil, "used_at": Some{}})
			// Before it is written as well as after.
			if used, err := time.Parse(time.RFC3339Nano, fmt.Sprint(item["used_at"])); err != nil || !used.Equal(used.Truncate(time.Microsecond)) {
				t.Errorf("used at %v (%v), want that to the microsecond", item["used_at"], err)
			}
		}
		log := w.Ask("GET", "/v1/events", nil, Bearer(admin)).Want(http.StatusOK).Body
		for _, secret := range []string{admin, mia} {
			Like(t, string(log), Lacking(strings.Split(secret, "_")[2]), "the log has a key itself")
		}
	})
}

// other is another letter.
func other(letter string) string {
	if letter == "a" {
		return "b"
	}
	return "a"
}

func secretOf(key string) string { return strings.Split(key, "_")[2] }

func TestAKeyIsGivenOnceForARequest(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		ask := func() *Answer {
			return w.Ask("POST", "/v1/keys", Object{"subject": "user:mia"}, Bearer(admin), "Idempotency-Key: k").Want(http.StatusCreated)
		}
		first, again := ask().JSON(), ask()
		Same(t, again.Header.Get("Idempotent-Replayed"), "true", first)
		Like(t, again.JSON(), Object{"key": nil, "prefix": first["prefix"]}, first)
		for name, key := range map[string]Object{
			"a strange role":   {"subject": "user:x", "role": "king"},
			"nobody":           {"subject": "x"},
			"a strange group":  {"subject": "user:x", "memberships": []string{"pay"}},
			"a past end":       {"subject": "user:x", "expires_at": "2001-01-01T00:00:00Z"},
			"an unknown field": {"subject": "user:x", "admin": true},
		} {
			Same(t, len(w.Ask("POST", "/v1/keys", key, Bearer(admin)).Want(http.StatusUnprocessableEntity).Errors()), 1, name)
		}
	})
}

func TestARevokedKeyOpensNoServer(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		mia := w.Given(admin, Object{"subject": "user:mia", "memberships": []string{"team:pay"}})
		at := "/v1/keys/" + PrefixOf(mia)
		w.Ask("POST", at+"/rotate", Object{"overlap": -1}, Bearer(admin)).Want(http.StatusUnprocessableEntity)
		next := w.Ask("POST", at+"/rotate", Object{"overlap": 3600}, Bearer(admin)).Want(http.StatusCreated).JSON()["key"].(string)
		w.Ask("POST", at+"/rotate", nil, Bearer(admin)).Want(http.StatusConflict)
		ended := w.Given(admin, Object{"subject": "user:ned"})
		rotated := w.Ask("POST", "/v1/keys/"+PrefixOf(ended)+"/rotate", Object{"overlap": 0}, Bearer(admin)).Want(http.StatusCreated).JSON()
		end, err := time.Parse(time.RFC3339Nano, fmt.Sprint(rotated["replaced_until"]))
		if err != nil || end.After(time.Now()) {
			t.Errorf("without an overlap the old key ends at %v", rotated["replaced_until"])
		}
		w.Ask("GET", "/v1/whoami", nil, Bearer(ended)).Want(http.StatusUnauthorized)
		w.Ask("GET", "/v1/whoami", nil, Bearer(rotated["key"].(string))).Want(http.StatusOK)
		w.Ask("GET", "/v1/whoami", nil, Bearer(mia)).Want(http.StatusOK)
		me := w.Ask("GET", "/v1/whoami", nil, Bearer(next)).Want(http.StatusOK).JSON()
		Like(t, me, Object{"subject": "user:mia", "memberships": Count(1)}, "the next key is")
		w.Ahead(2 * time.Hour)
		w.Ask("GET", "/v1/whoami", nil, Bearer(mia)).Want(http.StatusUnauthorized)
		w.Ask("GET", "/v1/whoami", nil, Bearer(next)).Want(http.StatusOK)
		w.Ahead(0)
		w.Ask("DELETE", "/v1/keys/aaaaaaaaaa", nil, Bearer(admin)).Want(http.StatusNotFound)
		w.Ask("DELETE", at, nil, Bearer(next)).Want(http.StatusForbidden)
		revoked := w.Ask("DELETE", at, Object{"reason": "lost"}, Bearer(admin)).Want(http.StatusOK)
		again := w.Ask("DELETE", at, nil, Bearer(admin)).Want(http.StatusOK)
		Same(t, revoked.Header.Get("Annals-Outcome"), "recorded")
		Same(t, again.Header.Get("Annals-Outcome"), "unchanged")
		if was, is := revoked.JSON()["revoked_at"], again.JSON()["revoked_at"]; was != is || was == nil {
			t.Errorf("revoked at %v, then at %v", was, is)
		}
		refused := w.Ask("GET", "/v1/whoami", nil, Bearer(mia)).Want(http.StatusUnauthorized).JSON()
		Like(t, refused, Object{"detail": "the key was revoked"})
	})
}

// The keys of one tenant are nothing to another's admin, whatever is known of them.
func TestTenantsHaveKeysOfTheirOwn(t *testing.T) {
	EachWith(t, guessed, func(t *testing.T, w *World) {
		w.Ask("GET", "/v1/whoami", nil).Want(http.StatusUnauthorized)
		w.Ask("POST", "/v1/tenants", Object{"name": "acme"}, Bearer(RootKey)).Want(http.StatusCreated)
		w.Ask("POST", "/v1/tenants", Object{"name": "acme"}, Bearer(RootKey)).Want(http.StatusConflict)
		w.Ask("POST", "/v1/tenants", Object{"name": "default"}, Bearer(RootKey)).Want(http.StatusConflict)
		for _, name := range []string{"_system", "", "A", "a b", strings.Repeat("a", 64)} {
			w.Ask("POST", "/v1/tenants", Object{"name": name}, Bearer(RootKey)).Want(http.StatusUnprocessableEntity)
		}
		var admins []string
		for _, tenant := range []Header{"default", "acme"} {
			made := w.Ask("POST", "/v1/keys", Object{"subject": "user:otto", "role": "admin"}, Bearer(RootKey), "Annals-Tenant: "+tenant).Want(http.StatusCreated).JSON()
			Like(t, made, Object{"tenant": string(tenant)})
			admins = append(admins, made["key"].(string))
		}
		for _, nowhere := range []Header{"_system", "nowhere", "ACME"} {
			w.Ask("POST", "/v1/knowledge", Item("a", "x"), Bearer(RootKey), "Annals-Tenant: "+nowhere).Want(http.StatusUnprocessableEntity)
			w.Ask("GET", "/v1/whoami", nil, Bearer(admins[1]), "Annals-Tenant: "+nowhere).Want(http.StatusForbidden)
		}
		own := w.Ask("GET", "/v1/events?stream=tenant:acme", nil, Bearer(RootKey), "Annals-Tenant: _system")
		Same(t, len(own.Want(http.StatusOK).Items()), 1, "the server's own log says of acme")
		for _, nowhere := range []Header{"nowhere", "ACME"} {
			w.Ask("GET", "/v1/whoami", nil, Bearer(RootKey), "Annals-Tenant: "+nowhere).Want(http.StatusUnprocessableEntity)
		}
		w.Ask("POST", "/v1/tenants", Object{"name": "other"}, Bearer(admins[0])).Want(http.StatusForbidden)
		w.Ask("GET", "/v1/tenants", nil, Bearer(admins[0])).Want(http.StatusForbidden)
		Same(t, len(w.Ask("GET", "/v1/tenants", nil, Bearer(RootKey)).Want(http.StatusOK).Items()), 2, "the tenants are")
		w.Ask("POST", "/v1/knowledge", Item("a", "x"), Bearer(admins[0])).Want(http.StatusCreated)
		w.Ask("GET", "/v1/knowledge/a", nil, Bearer(admins[1])).Want(http.StatusNotFound)
		w.Ask("GET", "/v1/knowledge/a", nil, Bearer(RootKey)).Want(http.StatusOK)
		theirs := "/v1/keys/" + PrefixOf(admins[0])
		w.Ask("DELETE", theirs, nil, Bearer(admins[1])).Want(http.StatusNotFound)
		w.Ask("POST", theirs+"/rotate", nil, Bearer(admins[1])).Want(http.StatusNotFound)
		Same(t, len(w.Ask("GET", "/v1/keys", nil, Bearer(admins[1])).Want(http.StatusOK).Items()), 1, "acme's keys are")
	})
}

// Who still uses a key that was revoked, or an invitation as a key, is on record by its name, in its tenant.
func TestTheUseOfARevokedKeyIsRecordedByItsName(t *testing.T) {
	recorded := func(w *World, cfg *Config) {
		Rooted(w, cfg)
		cfg.Recorder = &Recorder{}
	}
	EachWith(t, recorded, func(t *testing.T, w *World) {
		record := w.Configured.Recorder.(*Recorder)
		w.Ask("POST", "/v1/tenants", Object{"name": "acme"}, Bearer(RootKey)).Want(http.StatusCreated)
		for status, asked := range map[int]Object{
			http.StatusUnauthorized: {"subject": "user:mia"},
			http.StatusForbidden:    {"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(time.Hour)},
		} {
			made := w.Ask("POST", "/v1/keys", asked, Bearer(RootKey), "Annals-Tenant: acme").Want(http.StatusCreated).JSON()
			if key := "/v1/keys/" + made["prefix"].(string); status == http.StatusUnauthorized {
				w.Ask("DELETE", key, nil, Bearer(RootKey), "Annals-Tenant: acme").Want(http.StatusOK)
			}
			w.Ask("GET", "/v1/knowledge", nil, Bearer(made["key"].(string))).Want(status)
			last := record.Last()
			got := []string{string(last.Kind), last.Tenant, string(last.Caller), last.Authentication, last.Route}
			want := []string{"denied", "acme", "user:mia", "key:" + made["prefix"].(string), "GET /v1/knowledge"}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error(diff)
			}
		}
		w.Ask("GET", "/v1/knowledge", nil, Bearer("annals_aaaaaaaaaa_"+strings.Repeat("a", 52))).Want(http.StatusUnauthorized)
		if last := record.Last(); last.Caller != "" || last.Authentication != "" {
			t.Errorf("a guessed key has a name: %+v", last)
		}
	})
}
