package keys_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	annalshttp "github.com/annals-kb/annals/http"
	httpkeys "github.com/annals-kb/annals/http/keys"
	. "github.com/annals-kb/annals/http/servertest"
)

// guessed lets a server keep keys and open sessions, with a clock that stands still.
func guessed(w *World, cfg *Config) {
	Frozen(w, cfg)
	cfg.Callers.SessionKey = sessionKey('a')
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
	EachWith(t, guessed, func(t *testing.T, w *World) {
		who := func(key string) *Answer { return w.Ask("GET", "/v1/whoami", nil, Bearer(key)) }
		guesses := []func() string{wrongKey, func() string { return "no key at all" }, func() string { return "a.token.forged" }}
		for i := range most {
			who(guesses[i%len(guesses)]()).Want(http.StatusUnauthorized)
		}
		for _, guess := range guesses {
			refused := who(guess()).Want(http.StatusTooManyRequests)
			Same(t, refused.Header.Get("Retry-After"), "1", "to come again after")
		}
		w.Ahead(time.Second)
		who(wrongKey()).Want(http.StatusUnauthorized)
		who(wrongKey()).Want(http.StatusTooManyRequests)
		w.Ask("GET", "/v1/whoami", nil).Want(http.StatusUnauthorized) // who presents nothing guesses nothing
	})
}

func TestNobodyIsLockedOutByWhatOthersGuess(t *testing.T) {
	EachWith(t, guessed, func(_ *testing.T, w *World) {
		who := func(key string) *Answer { return w.Ask("GET", "/v1/whoami", nil, Bearer(key)) }
		unused, used, victim := w.Given(RootKey, Object{"subject": "user:a"}), w.Given(RootKey, Object{"subject": "user:b"}), w.Given(RootKey, Object{"subject": "user:c"})
		who(used).Want(http.StatusOK)
		for range most {
			who(wrongKey())
			who(similar(used))
			who(similar(victim))
		}
		who(wrongKey()).Want(http.StatusTooManyRequests)
		who(unused).Want(http.StatusOK)
		who(used).Want(http.StatusOK)
		who(RootKey).Want(http.StatusOK)
		who(victim).Want(http.StatusTooManyRequests) // somebody guesses at it, and it might be he
	})
}

func TestAnAddressIsAHostsOrANetworks(t *testing.T) {
	t.Parallel()
	server := annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{RootKey: RootKey}, Now: func() time.Time { return time.Unix(0, 0) }}).Handler()
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
		Same(t, from(address), want, address)
	}
}
