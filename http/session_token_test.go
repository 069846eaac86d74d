package http_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	httpkeys "github.com/annals-kb/annals/http/keys"
)

func sessionKey(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

// login opens a session as a caller on this machine.
func login(t *testing.T, server *annalshttp.Server, key string) (token string, err error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", nil)
	r.RemoteAddr = "127.0.0.1:1"
	token, _, err = server.Callers.OpenSession(r, key)
	if (token == "") != (err != nil) {
		t.Errorf("got the token %q with the error %v", token, err)
	}
	return token, err
}

// loggedIn is the token of a session that opens.
func (w *world) loggedIn(key string) string {
	w.t.Helper()
	token, err := login(w.t, w.server, key)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

func (w *world) whoami(token string) *answer {
	w.t.Helper()
	return w.ask("GET", "/v1/whoami", nil, bearer(token))
}

// ended fails the test unless the token is refused with the reason.
func (w *world) ended(token, why string) {
	w.t.Helper()
	like(w.t, w.whoami(token).want(http.StatusUnauthorized).json(), object{"detail": why})
}

const sessionEnded = "the session has ended"

func TestASessionIsItsKeyUntilTheKeyIsRevoked(t *testing.T) {
	guessed(t, func(w *world, _ *atomic.Int64) {
		mia := w.given(rootKey, object{"subject": "user:mia", "memberships": []string{"team:pay"}})
		token := w.loggedIn(mia + "\n")
		like(w.t, w.whoami(token).want(http.StatusOK).json(), w.whoami(mia).want(http.StatusOK).json())
		w.ask("GET", "/v1/whoami", nil, "X-API-Key: "+header(token)).want(http.StatusOK)
		w.ask("GET", "/v1/whoami", nil, "X-API-Key: "+header(token), "Annals-Tenant: other").want(http.StatusForbidden)
		prefix := strings.Split(mia, "_")[1]
		w.ask("DELETE", "/v1/keys/"+prefix, nil, bearer(rootKey)).want(http.StatusOK)
		w.ended(token, "the key was revoked")
		if _, err := login(w.t, w.server, mia); !errors.Is(err, domain.ErrUnauthenticated) {
			w.t.Errorf("a revoked key opened a session: %v", err)
		}
	})
}

func TestASessionEndsAfterTwelveHoursOrWithItsKey(t *testing.T) {
	guessed(t, func(w *world, clock *atomic.Int64) {
		mia := w.given(rootKey, object{"subject": "user:mia"})
		token := w.loggedIn(mia)
		rotated := w.ask("POST", "/v1/keys/"+strings.Split(mia, "_")[1]+"/rotate", object{"overlap": 3600}, bearer(rootKey)).want(http.StatusCreated).json()
		next := w.loggedIn(rotated["key"].(string))
		w.whoami(token).want(http.StatusOK)
		clock.Add(3600)
		w.ended(token, "the key was replaced by another")
		w.whoami(next).want(http.StatusOK)
		clock.Add(11*3600 - 1)
		w.whoami(next).want(http.StatusOK)
		clock.Add(1)
		w.ended(next, sessionEnded)
		w.whoami(rotated["key"].(string)).want(http.StatusOK)
	})
}

func TestAForgedSessionTokenIsRefusedAndIsNoWrongKey(t *testing.T) {
	guessed(t, func(w *world, _ *atomic.Int64) {
		token := w.loggedIn(rootKey)
		scheme, text, _ := strings.Cut(token, ".")
		sealed, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || bytes.Contains(sealed, []byte("hash")) || scheme != "session" {
			w.t.Fatalf("the token is not sealed: %q, %v", sealed, err)
		}
		for i := range sealed {
			forged := bytes.Clone(sealed)
			forged[i] ^= 1
			w.ended("session."+base64.RawURLEncoding.EncodeToString(forged), sessionEnded)
		}
		for _, forged := range []string{"session.", "session.AAAA", "session.a.b", token[:len(token)-1], token + "A"} {
			w.ended(forged, sessionEnded)
		}
		foreign, err := login(w.t, annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{RootKey: rootKey, SessionKey: sessionKey('b')}}), rootKey)
		if err != nil {
			w.t.Fatal(err)
		}
		w.ended(foreign, sessionEnded)
		w.whoami(wrongKey()).want(http.StatusUnauthorized)
		w.whoami(token).want(http.StatusOK)
	})
}

func TestARootSessionEndsWhenTheRootKeyChanges(t *testing.T) {
	guessed(t, func(w *world, clock *atomic.Int64) {
		token := w.loggedIn(rootKey)
		like(w.t, w.whoami(token).want(http.StatusOK).json(), w.whoami(rootKey).want(http.StatusOK).json())
		w.ask("POST", "/v1/tenants", object{"name": "acme"}, bearer(token)).want(http.StatusCreated)
		w.ask("GET", "/v1/whoami", nil, bearer(token), "Annals-Tenant: acme").want(http.StatusOK)
		changed, err := login(w.t, annalshttp.New(annalshttp.Config{
			Callers: httpkeys.Config{RootKey: "another" + rootKey, SessionKey: sessionKey('a')},
			Now:     func() time.Time { return time.Unix(clock.Load(), 0) },
		}), "another"+rootKey)
		if err != nil {
			w.t.Fatal(err)
		}
		w.ended(changed, "the key is not valid")
	})
}

func TestWrongKeysAtALoginCountAsAtTheAPI(t *testing.T) {
	guessed(t, func(w *world, clock *atomic.Int64) {
		token := w.loggedIn(rootKey)
		for range most {
			if _, err := login(w.t, w.server, wrongKey()); !errors.Is(err, domain.ErrUnauthenticated) {
				w.t.Fatal(err)
			}
		}
		if _, err := login(w.t, w.server, "no key at all"); err == nil || errors.Is(err, domain.ErrUnauthenticated) {
			w.t.Errorf("guessing at a login was not slowed down: %v", err)
		}
		w.whoami(wrongKey()).want(http.StatusTooManyRequests)
		w.whoami(token).want(http.StatusOK)
		clock.Add(1)
		if _, err := login(w.t, w.server, wrongKey()); !errors.Is(err, domain.ErrUnauthenticated) {
			w.t.Errorf("after a second: %v", err)
		}
	})
}

func TestOnlyAKeyOpensASession(t *testing.T) {
	guessed(t, func(w *world, _ *atomic.Int64) {
		token := w.loggedIn(rootKey)
		for name, c := range map[string]struct {
			server *annalshttp.Server
			key    string
			want   error
		}{
			"no-auth mode":    {annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{SessionKey: sessionKey('a')}}), rootKey, domain.ErrConflict},
			"no session key":  {annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{RootKey: rootKey}}), rootKey, domain.ErrNotFound},
			"a session token": {w.server, token, domain.ErrUnauthenticated},
			"no key":          {w.server, "", domain.ErrUnauthenticated},
			"a token of an issuer": {
				annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{Tokens: issued{}, SessionKey: sessionKey('a')}}), "a.b.c", domain.ErrUnauthenticated,
			},
		} {
			if _, err := login(w.t, c.server, c.key); !errors.Is(err, c.want) {
				w.t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
	})
}

func TestASessionKeyHas32Bytes(t *testing.T) {
	t.Parallel()
	err := annalshttp.Config{Callers: httpkeys.Config{SessionKey: make([]byte, 16)}}.Validate()
	if err == nil || !strings.Contains(err.Error(), "SessionKey must have 32 bytes") {
		t.Errorf("got %v", err)
	}
}
