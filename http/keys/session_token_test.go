package keys_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	httpkeys "github.com/annals-kb/annals/http/keys"
	. "github.com/annals-kb/annals/http/servertest"
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
func loggedIn(w *World, key string) string {
	w.T.Helper()
	token, err := login(w.T, w.Server, key)
	if err != nil {
		w.T.Fatal(err)
	}
	return token
}

func whoami(w *World, token string) *Answer {
	w.T.Helper()
	return w.Ask("GET", "/v1/whoami", nil, Bearer(token))
}

// ended fails the test unless the token is refused with the reason.
func ended(w *World, token, why string) {
	w.T.Helper()
	Like(w.T, whoami(w, token).Want(http.StatusUnauthorized).JSON(), Object{"detail": why})
}

const sessionEnded = "the session has ended"

func TestASessionIsItsKeyUntilTheKeyIsRevoked(t *testing.T) {
	EachWith(t, guessed, func(t *testing.T, w *World) {
		mia := w.Given(RootKey, Object{"subject": "user:mia", "memberships": []string{"team:pay"}})
		token := loggedIn(w, mia+"\n")
		Like(t, whoami(w, token).Want(http.StatusOK).JSON(), whoami(w, mia).Want(http.StatusOK).JSON())
		w.Ask("GET", "/v1/whoami", nil, "X-API-Key: "+Header(token)).Want(http.StatusOK)
		w.Ask("GET", "/v1/whoami", nil, "X-API-Key: "+Header(token), "Annals-Tenant: other").Want(http.StatusForbidden)
		prefix := PrefixOf(mia)
		w.Ask("DELETE", "/v1/keys/"+prefix, nil, Bearer(RootKey)).Want(http.StatusOK)
		ended(w, token, "the key was revoked")
		if _, err := login(t, w.Server, mia); !errors.Is(err, domain.ErrUnauthenticated) {
			t.Errorf("a revoked key opened a session: %v", err)
		}
	})
}

func TestASessionEndsAfterTwelveHoursOrWithItsKey(t *testing.T) {
	EachWith(t, guessed, func(_ *testing.T, w *World) {
		mia := w.Given(RootKey, Object{"subject": "user:mia"})
		token := loggedIn(w, mia)
		rotated := w.Ask("POST", "/v1/keys/"+PrefixOf(mia)+"/rotate", Object{"overlap": 3600}, Bearer(RootKey)).Want(http.StatusCreated).JSON()
		next := loggedIn(w, rotated["key"].(string))
		whoami(w, token).Want(http.StatusOK)
		w.Ahead(time.Hour)
		ended(w, token, "the key was replaced by another")
		whoami(w, next).Want(http.StatusOK)
		w.Ahead(12*time.Hour - time.Second)
		whoami(w, next).Want(http.StatusOK)
		w.Ahead(12 * time.Hour)
		ended(w, next, sessionEnded)
		whoami(w, rotated["key"].(string)).Want(http.StatusOK)
	})
}

func TestAForgedSessionTokenIsRefusedAndIsNoWrongKey(t *testing.T) {
	EachWith(t, guessed, func(t *testing.T, w *World) {
		token := loggedIn(w, RootKey)
		scheme, text, _ := strings.Cut(token, ".")
		sealed, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || bytes.Contains(sealed, []byte("hash")) || scheme != "session" {
			t.Fatalf("the token is not sealed: %q, %v", sealed, err)
		}
		for i := range sealed {
			forged := bytes.Clone(sealed)
			forged[i] ^= 1
			ended(w, "session."+base64.RawURLEncoding.EncodeToString(forged), sessionEnded)
		}
		for _, forged := range []string{"session.", "session.AAAA", "session.a.b", token[:len(token)-1], token + "A"} {
			ended(w, forged, sessionEnded)
		}
		foreign, err := login(t, annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{RootKey: RootKey, SessionKey: sessionKey('b')}}), RootKey)
		if err != nil {
			t.Fatal(err)
		}
		ended(w, foreign, sessionEnded)
		whoami(w, wrongKey()).Want(http.StatusUnauthorized)
		whoami(w, token).Want(http.StatusOK)
	})
}

func TestARootSessionEndsWhenTheRootKeyChanges(t *testing.T) {
	EachWith(t, guessed, func(t *testing.T, w *World) {
		token := loggedIn(w, RootKey)
		Like(t, whoami(w, token).Want(http.StatusOK).JSON(), whoami(w, RootKey).Want(http.StatusOK).JSON())
		w.Ask("POST", "/v1/tenants", Object{"name": "acme"}, Bearer(token)).Want(http.StatusCreated)
		w.Ask("GET", "/v1/whoami", nil, Bearer(token), "Annals-Tenant: acme").Want(http.StatusOK)
		changed, err := login(t, annalshttp.New(annalshttp.Config{
			Callers: httpkeys.Config{RootKey: "another" + RootKey, SessionKey: sessionKey('a')},
		}), "another"+RootKey)
		if err != nil {
			t.Fatal(err)
		}
		ended(w, changed, "the key is not valid")
	})
}

func TestWrongKeysAtALoginCountAsAtTheAPI(t *testing.T) {
	EachWith(t, guessed, func(t *testing.T, w *World) {
		token := loggedIn(w, RootKey)
		for range most {
			if _, err := login(t, w.Server, wrongKey()); !errors.Is(err, domain.ErrUnauthenticated) {
				t.Fatal(err)
			}
		}
		if _, err := login(t, w.Server, "no key at all"); err == nil || errors.Is(err, domain.ErrUnauthenticated) {
			t.Errorf("guessing at a login was not slowed down: %v", err)
		}
		whoami(w, wrongKey()).Want(http.StatusTooManyRequests)
		whoami(w, token).Want(http.StatusOK)
		w.Ahead(time.Second)
		if _, err := login(t, w.Server, wrongKey()); !errors.Is(err, domain.ErrUnauthenticated) {
			t.Errorf("after a second: %v", err)
		}
	})
}

func TestOnlyAKeyOpensASession(t *testing.T) {
	EachWith(t, guessed, func(t *testing.T, w *World) {
		token := loggedIn(w, RootKey)
		for name, c := range map[string]struct {
			server *annalshttp.Server
			key    string
			want   error
		}{
			"no-auth mode":    {annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{SessionKey: sessionKey('a')}}), RootKey, domain.ErrConflict},
			"no session key":  {annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{RootKey: RootKey}}), RootKey, domain.ErrNotFound},
			"a session token": {w.Server, token, domain.ErrUnauthenticated},
			"no key":          {w.Server, "", domain.ErrUnauthenticated},
			"a token of an issuer": {
				annalshttp.New(annalshttp.Config{Callers: httpkeys.Config{Tokens: issued{}, SessionKey: sessionKey('a')}}), "a.b.c", domain.ErrUnauthenticated,
			},
		} {
			if _, err := login(t, c.server, c.key); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
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
