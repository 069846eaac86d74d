package http_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/keys"
)

// guessed runs a test on both engines, on a server that keeps keys; its clock is set by the test, in seconds.
func guessed(t *testing.T, test func(w *world, clock *atomic.Int64)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		var clock atomic.Int64
		clock.Store(time.Now().Unix())
		w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			cfg.Callers.Keys, cfg.Callers.RootKey = keys.NewKeys(db, cfg.Writer.(*events.Log)), rootKey
			cfg.Callers.SessionKey = sessionKey('a')
			cfg.Now = func() time.Time { return time.Unix(clock.Load(), 0) }
		})
		test(w, &clock)
	})
}

// wrongKey is of the form that keys have, and opens nothing.
func wrongKey() string {
	_, key, _ := httpkeys.NewKey()
	return key
}

// similar is a wrong key with the prefix of a right one.
func similar(key string) string {
	const prefix = len("annals_") + 10
	return key[:prefix] + wrongKey()[prefix:]
}

const most = 20

func TestGuessingAtKeysIsSlow(t *testing.T) {
	guessed(t, func(w *world, clock *atomic.Int64) {
		who := func(key string) *answer { return w.ask("GET", "/v1/whoami", nil, bearer(key)) }
		guesses := []func() string{wrongKey, func() string { return "no key at all" }, func() string { return "a.token.forged" }}
		for i := range most {
			who(guesses[i%len(guesses)]()).want(http.StatusUnauthorized)
		}
		for _, guess := range guesses {
			refused := who(guess()).want(http.StatusTooManyRequests)
			same(w.t, refused.header.Get("Retry-After"), "1", "to come again after")
		}
		clock.Add(1)
		who(wrongKey()).want(http.StatusUnauthorized)
		who(wrongKey()).want(http.StatusTooManyRequests)
		w.ask("GET", "/v1/whoami", nil).want(http.StatusUnauthorized) // who presents nothing guesses nothing
	})
}

func TestNobodyIsLockedOutByWhatOthersGuess(t *testing.T) {
	guessed(t, func(w *world, _ *atomic.Int64) {
		who := func(key string) *answer { return w.ask("GET", "/v1/whoami", nil, bearer(key)) }
		unused, used, victim := w.given(rootKey, object{"subject": "user:a"}), w.given(rootKey, object{"subject": "user:b"}), w.given(rootKey, object{"subject": "user:c"})
		who(used).want(http.StatusOK)
		for range most {
			who(wrongKey())
			who(similar(used))
			who(similar(victim))
		}
		who(wrongKey()).want(http.StatusTooManyRequests)
		who(unused).want(http.StatusOK)
		who(used).want(http.StatusOK)
		who(rootKey).want(http.StatusOK)
		who(victim).want(http.StatusTooManyRequests) // somebody guesses at it, and it might be he
	})
}

func TestAnAddressIsAHostsOrANetworks(t *testing.T) {
	t.Parallel()
	server := annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{RootKey: rootKey}, Now: func() time.Time { return time.Unix(0, 0) }}).Handler()
	from := func(address string) int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/whoami", nil)
		r.RemoteAddr = address
		r.Header.Set("Authorization", "Bearer "+wrongKey())
		answered := httptest.NewRecorder()
		server.ServeHTTP(answered, r)
		return answered.Code
	}
	for range most {
		from("[2001:db8::1]:1")
		from("192.0.2.1:1")
	}
	for address, want := range map[string]int{
		"[2001:db8::2:3]:4": 429, "[2001:db8:0:1::1]:1": 401, "192.0.2.1:9": 429, "[::ffff:192.0.2.1]:9": 429, "192.0.2.2:1": 401,
	} {
		same(t, from(address), want, address)
	}
}
