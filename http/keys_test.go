package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/keys"
)

const rootKey = "0123456789abcdef0123456789abcdef"

// eachKeyed is each, with a server that keeps keys, and what its clock is ahead.
func eachKeyed(t *testing.T, test func(t *testing.T, w *world, ahead *time.Duration)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		ahead := new(time.Duration)
		w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			cfg.Callers.Keys = keys.NewKeys(db, cfg.Writer.(*events.Log))
			cfg.Now = func() time.Time { return time.Now().Add(*ahead) }
		})
		test(t, w, ahead)
	})
}

// given is a key, made by whoever has another.
func (w *world) given(by string, key object) string {
	w.t.Helper()
	made := w.ask("POST", "/v1/keys", key, bearer(by)).want(http.StatusCreated).json()
	return made["key"].(string)
}

// Whoever may change an item may keep the audience that somebody else gave it, whichever way it is changed.
func TestRememberingOverAnItemPublishesOnlyWhatIsNew(t *testing.T) {
	eachKeyed(t, func(_ *testing.T, w *world, _ *time.Duration) {
		olga := w.given("", object{"subject": "user:olga", "role": "admin"})
		admin := bearer(olga)
		mia := bearer(w.given(olga, object{"subject": "user:mia", "memberships": []string{"team:pay"}}))
		auditor := bearer(w.given(olga, object{"subject": "user:otto", "role": "auditor"}))
		says := func(content string, scopes ...string) object {
			return object{"id": "a", "type": "strategy", "content": content, "owner": "team:pay", "scopes": scopes}
		}
		over := func(body any, by header) *answer { return w.ask("POST", "/v1/knowledge?update=true", body, by) }
		w.ask("POST", "/v1/knowledge", says("one", "team:pay", "public"), admin).want(http.StatusCreated)
		w.ask("PATCH", "/v1/knowledge/a", object{"content": "two", "scopes": []string{"team:pay", "public"}}, mia).want(http.StatusOK)
		over(says("three", "team:pay", "public"), mia).want(http.StatusOK)
		over(says("four", "team:pay", "public", "org:acme"), mia).want(http.StatusForbidden)
		over(says("four", "team:pay", "public"), auditor).want(http.StatusForbidden)
		lines := over([]object{says("four", "public", "team:pay"), says("five", "user:olga")}, mia).want(http.StatusOK).lines()
		like(w.t, lines, []any{object{"status": "revised"}, object{"status": "error"}})
		over(says("five", "team:pay"), mia).want(http.StatusOK)
		over(says("six", "team:pay", "public"), mia).want(http.StatusForbidden)
	})
}

func bearer(key string) header { return header("Authorization: Bearer " + key) }

// What the description says of each route about keys is what the server does.
func TestTheDescriptionSaysWhichRoutesNeedAKey(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		w.given("", object{"subject": "user:olga", "role": "admin"})
		doc := describedBy(t, w).doc
		same(t, doc.Components.SecuritySchemes["bearer"].Value.Scheme, "bearer", "keys are described as")
		same(t, doc.Components.SecuritySchemes["key"].Value.Name, "X-API-Key", "keys are described as")
		for path, item := range doc.Paths.Map() {
			if path == "/mcp" { // cmd/annals mounts it
				continue
			}
			for method, operation := range item.Operations() {
				security := doc.Security
				if operation.Security != nil {
					security = *operation.Security
				}
				answer := w.ask(method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)
				same(t, answer.status == http.StatusUnauthorized, len(security) == 2, method, path, answer.status, security)
			}
		}
	})
}

func TestFromTheFirstKeyOnEverybodyNeedsOne(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, ahead *time.Duration) {
		w.ask("GET", "/v1/whoami", nil).want(http.StatusOK)
		w.ask("POST", "/v1/keys", object{"subject": "user:bob"}).want(http.StatusConflict) // nobody could give another
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		refused := w.ask("GET", "/v1/whoami", nil).want(http.StatusUnauthorized)
		same(t, refused.header.Get("WWW-Authenticate"), "Bearer")
		for _, wrong := range []header{
			bearer("nonsense"), bearer(admin + "x"), bearer(strings.Replace(admin, "_"+secretOf(admin)[:1], "_"+other(secretOf(admin)[:1]), 1)), bearer(""), header("Authorization: Basic " + admin),
			bearer("annals_aaaaaaaaaa_" + secretOf(admin)), "X-API-Key: nonsense",
		} {
			w.ask("GET", "/v1/whoami", nil, wrong).want(http.StatusUnauthorized)
		}
		w.ask("GET", "/v1/whoami", nil, bearer(admin), "X-API-Key: other").want(http.StatusUnauthorized)
		me := w.ask("GET", "/v1/whoami", nil, "X-API-Key: "+header(admin), "Authorization: Basic cHJveHk6cGFzcw==").want(http.StatusOK).json()
		like(t, me, object{"subject": "user:olga", "role": "admin", "authentication": "key:" + strings.Split(admin, "_")[1]})
		for _, open := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs"} {
			w.ask("GET", open, nil).want(http.StatusOK)
		}
		soon := time.Now().Add(time.Hour)
		mia := w.given(admin, object{"subject": "user:mia", "memberships": []string{"team:pay"}, "expires_at": soon, "note": "her laptop"})
		w.ask("GET", "/v1/whoami", nil, bearer(mia)).want(http.StatusOK)
		*ahead = 2 * time.Hour
		w.ask("GET", "/v1/whoami", nil, bearer(mia)).want(http.StatusUnauthorized)
		*ahead = 0
		for _, item := range w.ask("GET", "/v1/keys", nil, bearer(admin)).want(http.StatusOK).items() {
			like(t, item, object{"key": nil, "used_at": some{}})
			// Before it is written as well as after.
			if used, err := time.Parse(time.RFC3339Nano, fmt.Sprint(item["used_at"])); err != nil || !used.Equal(used.Truncate(time.Microsecond)) {
				t.Errorf("used at %v (%v), want that to the microsecond", item["used_at"], err)
			}
		}
		log := w.ask("GET", "/v1/events", nil, bearer(admin)).want(http.StatusOK).body
		for _, secret := range []string{admin, mia} {
			like(t, string(log), lacking(strings.Split(secret, "_")[2]), "the log has a key itself")
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
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		ask := func() *answer {
			return w.ask("POST", "/v1/keys", object{"subject": "user:mia"}, bearer(admin), "Idempotency-Key: k").want(http.StatusCreated)
		}
		first, again := ask().json(), ask()
		same(t, again.header.Get("Idempotent-Replayed"), "true", first)
		like(t, again.json(), object{"key": nil, "prefix": first["prefix"]}, first)
		for name, key := range map[string]object{
			"a strange role":   {"subject": "user:x", "role": "king"},
			"nobody":           {"subject": "x"},
			"a strange group":  {"subject": "user:x", "memberships": []string{"pay"}},
			"a past end":       {"subject": "user:x", "expires_at": "2001-01-01T00:00:00Z"},
			"an unknown field": {"subject": "user:x", "admin": true},
		} {
			same(t, len(w.ask("POST", "/v1/keys", key, bearer(admin)).want(http.StatusUnprocessableEntity).errors()), 1, name)
		}
	})
}

func TestAStreamSendsNothingOnceItsKeyHasEnded(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, ahead *time.Duration) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		says := func(id string) {
			w.ask("POST", "/v1/knowledge", object{"id": id, "type": "strategy", "content": id, "scopes": []string{"public"}}, bearer(admin)).want(http.StatusCreated)
		}
		follow := func(key object) (prefix string, s *stream) {
			made := w.given(admin, key)
			s = w.follow("/v1/events", bearer(made))
			s.next("comment")
			return strings.Split(made, "_")[1], s
		}
		prefix, revoked := follow(object{"subject": "user:mia"})
		_, expired := follow(object{"subject": "user:max", "expires_at": time.Now().Add(time.Hour)})
		says("before")
		for _, s := range []*stream{revoked, expired} {
			s.next("")
		}
		w.ask("DELETE", "/v1/keys/"+prefix, nil, bearer(admin)).want(http.StatusOK)
		*ahead = 2 * time.Hour
		says("after")
		for name, s := range map[string]*stream{"revoked": revoked, "expired": expired} {
			for m := range s.heard {
				if m.kind == "" {
					t.Errorf("the %s key was sent %s", name, m.data)
				}
			}
		}
	})
}

func TestARevokedKeyOpensNoServer(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, ahead *time.Duration) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		mia := w.given(admin, object{"subject": "user:mia", "memberships": []string{"team:pay"}})
		at := "/v1/keys/" + strings.Split(mia, "_")[1]
		w.ask("POST", at+"/rotate", object{"overlap": -1}, bearer(admin)).want(http.StatusUnprocessableEntity)
		next := w.ask("POST", at+"/rotate", object{"overlap": 3600}, bearer(admin)).want(http.StatusCreated).json()["key"].(string)
		w.ask("POST", at+"/rotate", nil, bearer(admin)).want(http.StatusConflict)
		ended := w.given(admin, object{"subject": "user:ned"})
		rotated := w.ask("POST", "/v1/keys/"+strings.Split(ended, "_")[1]+"/rotate", object{"overlap": 0}, bearer(admin)).want(http.StatusCreated).json()
		end, err := time.Parse(time.RFC3339Nano, fmt.Sprint(rotated["replaced_until"]))
		if err != nil || end.After(time.Now()) {
			t.Errorf("without an overlap the old key ends at %v", rotated["replaced_until"])
		}
		w.ask("GET", "/v1/whoami", nil, bearer(ended)).want(http.StatusUnauthorized)
		w.ask("GET", "/v1/whoami", nil, bearer(rotated["key"].(string))).want(http.StatusOK)
		w.ask("GET", "/v1/whoami", nil, bearer(mia)).want(http.StatusOK)
		me := w.ask("GET", "/v1/whoami", nil, bearer(next)).want(http.StatusOK).json()
		like(t, me, object{"subject": "user:mia", "memberships": count(1)}, "the next key is")
		*ahead = 2 * time.Hour
		w.ask("GET", "/v1/whoami", nil, bearer(mia)).want(http.StatusUnauthorized)
		w.ask("GET", "/v1/whoami", nil, bearer(next)).want(http.StatusOK)
		*ahead = 0
		w.ask("DELETE", "/v1/keys/aaaaaaaaaa", nil, bearer(admin)).want(http.StatusNotFound)
		w.ask("DELETE", at, nil, bearer(next)).want(http.StatusForbidden)
		revoked := w.ask("DELETE", at, object{"reason": "lost"}, bearer(admin)).want(http.StatusOK)
		again := w.ask("DELETE", at, nil, bearer(admin)).want(http.StatusOK)
		same(t, revoked.header.Get("Annals-Outcome"), "recorded")
		same(t, again.header.Get("Annals-Outcome"), "unchanged")
		if was, is := revoked.json()["revoked_at"], again.json()["revoked_at"]; was != is || was == nil {
			t.Errorf("revoked at %v, then at %v", was, is)
		}
		refused := w.ask("GET", "/v1/whoami", nil, bearer(mia)).want(http.StatusUnauthorized).json()
		like(t, refused, object{"detail": "the key was revoked"})
	})
}

// The keys of one tenant are nothing to another's admin, whatever is known of them.
func TestTenantsHaveKeysOfTheirOwn(t *testing.T) {
	guessed(t, func(w *world, _ *atomic.Int64) {
		t := w.t
		w.ask("GET", "/v1/whoami", nil).want(http.StatusUnauthorized)
		w.ask("POST", "/v1/tenants", object{"name": "acme"}, bearer(rootKey)).want(http.StatusCreated)
		w.ask("POST", "/v1/tenants", object{"name": "acme"}, bearer(rootKey)).want(http.StatusConflict)
		w.ask("POST", "/v1/tenants", object{"name": "default"}, bearer(rootKey)).want(http.StatusConflict)
		for _, name := range []string{"_system", "", "A", "a b", strings.Repeat("a", 64)} {
			w.ask("POST", "/v1/tenants", object{"name": name}, bearer(rootKey)).want(http.StatusUnprocessableEntity)
		}
		var admins []string
		for _, tenant := range []header{"default", "acme"} {
			made := w.ask("POST", "/v1/keys", object{"subject": "user:otto", "role": "admin"}, bearer(rootKey), "Annals-Tenant: "+tenant).want(http.StatusCreated).json()
			like(t, made, object{"tenant": string(tenant)})
			admins = append(admins, made["key"].(string))
		}
		for _, nowhere := range []header{"_system", "nowhere", "ACME"} {
			w.ask("POST", "/v1/knowledge", item("a", "x"), bearer(rootKey), "Annals-Tenant: "+nowhere).want(http.StatusUnprocessableEntity)
			w.ask("GET", "/v1/whoami", nil, bearer(admins[1]), "Annals-Tenant: "+nowhere).want(http.StatusForbidden)
		}
		own := w.ask("GET", "/v1/events?stream=tenant:acme", nil, bearer(rootKey), "Annals-Tenant: _system")
		same(t, len(own.want(http.StatusOK).items()), 1, "the server's own log says of acme")
		for _, nowhere := range []header{"nowhere", "ACME"} {
			w.ask("GET", "/v1/whoami", nil, bearer(rootKey), "Annals-Tenant: "+nowhere).want(http.StatusUnprocessableEntity)
		}
		w.ask("POST", "/v1/tenants", object{"name": "other"}, bearer(admins[0])).want(http.StatusForbidden)
		w.ask("GET", "/v1/tenants", nil, bearer(admins[0])).want(http.StatusForbidden)
		same(t, len(w.ask("GET", "/v1/tenants", nil, bearer(rootKey)).want(http.StatusOK).items()), 2, "the tenants are")
		w.ask("POST", "/v1/knowledge", item("a", "x"), bearer(admins[0])).want(http.StatusCreated)
		w.ask("GET", "/v1/knowledge/a", nil, bearer(admins[1])).want(http.StatusNotFound)
		w.ask("GET", "/v1/knowledge/a", nil, bearer(rootKey)).want(http.StatusOK)
		theirs := "/v1/keys/" + strings.Split(admins[0], "_")[1]
		w.ask("DELETE", theirs, nil, bearer(admins[1])).want(http.StatusNotFound)
		w.ask("POST", theirs+"/rotate", nil, bearer(admins[1])).want(http.StatusNotFound)
		same(t, len(w.ask("GET", "/v1/keys", nil, bearer(admins[1])).want(http.StatusOK).items()), 1, "acme's keys are")
	})
}

// accessLog keeps what is recorded of accesses.
type accessLog struct {
	mu  sync.Mutex
	all []domain.Access
}

func (*accessLog) Wants() bool { return false }

func (l *accessLog) Record(a domain.Access) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, a)
}

// Who still uses a key that was revoked, or an invitation as a key, is on record by its name, in its tenant.
func TestTheUseOfARevokedKeyIsRecordedByItsName(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		record := &accessLog{}
		w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			cfg.Callers.Keys, cfg.Recorder, cfg.Callers.RootKey = keys.NewKeys(db, cfg.Writer.(*events.Log)), record, rootKey
		})
		w.ask("POST", "/v1/tenants", object{"name": "acme"}, bearer(rootKey)).want(http.StatusCreated)
		for status, asked := range map[int]object{
			http.StatusUnauthorized: {"subject": "user:mia"},
			http.StatusForbidden:    {"subject": "user:mia", "invitation": true, "expires_at": time.Now().Add(time.Hour)},
		} {
			made := w.ask("POST", "/v1/keys", asked, bearer(rootKey), "Annals-Tenant: acme").want(http.StatusCreated).json()
			if key := "/v1/keys/" + made["prefix"].(string); status == http.StatusUnauthorized {
				w.ask("DELETE", key, nil, bearer(rootKey), "Annals-Tenant: acme").want(http.StatusOK)
			}
			w.ask("GET", "/v1/knowledge", nil, bearer(made["key"].(string))).want(status)
			last := record.all[len(record.all)-1]
			got := []string{last.Kind, last.Tenant, string(last.Actor), last.Authentication, last.Route}
			want := []string{domain.Denied, "acme", "user:mia", "key:" + made["prefix"].(string), "GET /v1/knowledge"}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error(diff)
			}
		}
		w.ask("GET", "/v1/knowledge", nil, bearer("annals_aaaaaaaaaa_"+strings.Repeat("a", 52))).want(http.StatusUnauthorized)
		if last := record.all[len(record.all)-1]; last.Actor != "" || last.Authentication != "" {
			t.Errorf("a guessed key has a name: %+v", last)
		}
	})
}
