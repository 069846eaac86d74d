package quotas_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	. "github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/quotas"
)

// limited runs a test on both engines. Each call of open starts one more server of the same database.
func limited(t *testing.T, lines string, test func(t *testing.T, open func() *World)) {
	t.Helper()
	t.Parallel()
	limits, err := quotas.Parse(lines)
	if err != nil {
		t.Fatal(err)
	}
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		test(t, func() *World {
			registry := prometheus.NewRegistry()
			base, err := projections.Open(database.ForEveryTenant(t.Context()), db, projections.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			keeper := quotas.New(db, limits, base.Versions.ActiveIn, registry, databasetest.Log(t))
			return NewWorld(t, db, events.Options{Admission: keeper, Registerer: registry}, func(w *World, cfg *Config) {
				Rooted(w, cfg)
				cfg.Registry = registry
			})
		})
	})
}

// usedUp checks a refusal, and returns how long it asks to wait.
func usedUp(t *testing.T, got *Answer, detail string) (wait int) {
	t.Helper()
	p := got.Want(http.StatusTooManyRequests).JSON()
	Same(t, p["type"], any("urn:annals:problem:quota"))
	if said, _ := p["detail"].(string); !strings.Contains(said, detail) || p["fix"] == nil {
		t.Errorf("got %s, want %q and a fix", got.Body, detail)
	}
	wait, _ = strconv.Atoi(got.Header.Get("Retry-After"))
	return wait
}

func TestQuotasOfItemsAndBytes(t *testing.T) {
	limited(t, "tenant:default items=3 bytes=100; scope:team:pay items=1", func(t *testing.T, open func() *World) {
		w := open()
		put := func(w *World, id, content, scope string) *Answer {
			return w.Ask("POST", "/v1/knowledge?update=true",
				Object{"id": id, "type": "strategy", "content": content, "scopes": []string{scope}}, Bearer(RootKey))
		}
		put(w, "a", "one", "team:pay").Want(http.StatusCreated)
		usedUp(t, put(w, "b", "two", "team:pay"), "items of scope:team:pay is used up: 1 of 1 are in use")
		put(w, "b", "two", "team:web").Want(http.StatusCreated)
		shared := w.Ask("PATCH", "/v1/knowledge/b", Object{"scopes": []string{"team:pay"}}, Bearer(RootKey))
		usedUp(t, shared, "scope:team:pay")
		Same(t, usedUp(t, put(w, "b", strings.Repeat("x", 98), "team:web"), "6 of 100 are in use, and this adds 95"), 0)
		lines := w.Ask("POST", "/v1/knowledge", []Object{Item("c", "three"), Item("d", "four"), Item("a", "one")},
			Bearer(RootKey)).Lines()
		Like(t, lines, []any{Object{"status": "created"}, Object{"error": Object{"status": 429}}, Object{}}, "many at once")

		other := open() // a restart, or another server, forgets nothing
		usedUp(t, put(other, "d", "four", "team:web"), "items of tenant:default is used up: 3 of 3")
		put(other, "c", "3", "team:web").Want(http.StatusOK)
		other.Ask("DELETE", "/v1/knowledge/a", nil, Bearer(RootKey)).Want(http.StatusNoContent)
		put(other, "d", "four", "team:pay").Want(http.StatusCreated)
		usedUp(t, other.Ask("POST", "/v1/knowledge/a/restore", nil, Bearer(RootKey)), "1 of 1")
		if got := string(other.Ask("GET", "/metrics", nil).Body); !strings.Contains(got,
			`annals_quota_refused_total{limit="items",of="tenant"} 1`) {
			t.Errorf("no refusal is counted in %s", got)
		}
	})
}

func TestQuotasOfKeys(t *testing.T) {
	limited(t, "key:* items=5 writes_day=2; key:root items=0", func(t *testing.T, open func() *World) {
		w := open()
		var key [2]Header
		for i, name := range []string{"user:ann", "user:bob"} {
			made := w.Ask("POST", "/v1/keys", Object{"subject": name, "role": "member"}, Bearer(RootKey))
			made.Want(http.StatusCreated)
			key[i] = Bearer(made.JSON()["key"].(string))
		}
		refused := w.Ask("POST", "/v1/knowledge", Item("r", "none"), Bearer(RootKey))
		usedUp(t, refused, "items of key:root is 0: nothing may be")
		w.Ask("POST", "/v1/knowledge", Item("a", "one"), key[0]).Want(http.StatusCreated)
		open().Ask("POST", "/v1/knowledge", Item("b", "one"), key[0]).Want(http.StatusCreated)
		again := open()
		wait := usedUp(t, again.Ask("POST", "/v1/knowledge", Item("c", "one"), key[0]), "2 of 2 are in use")
		if wait < 1 || wait > int((24*time.Hour).Seconds()) {
			t.Errorf("it asks to wait for %d s", wait)
		}
		again.Ask("POST", "/v1/knowledge", Item("d", "one"), key[1]).Want(http.StatusCreated)
	})
}

func TestBadQuotasAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := quotas.Parse("tenant:A items=1\nkey:* items=-1 bytes=ten;scope:x items=1;scope:team:a writes_day=1;" +
		"team:pay items=1;key:a;tenant:b size=1 items=1 items=2;tenant:b items=99999999999999999999")
	for _, want := range []string{
		"tenant:A: a tenant cannot", "key:*: items=-1 must be", "bytes=ten must be", "scope:x: must name",
		"writes_day=1 is not",
		"team:pay: must be", "key:a: limits nothing", "size=1 is not", "items comes twice", "tenant:b: has a second",
		"items=99999999999999999999 must",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
