package console_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/console"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/http/oidc"
	"github.com/annals-kb/annals/http/servertest"
)

// provider is an OpenID provider on loopback. To a browser it is another website, since its name is localhost.
type provider struct {
	*httptest.Server
	url     string
	private ed25519.PrivateKey

	mu     sync.Mutex
	codes  map[string]url.Values // what was asked at /authorize, by code; a code is valid once
	claims map[string]any        // what an ID token says otherwise
	ended  []string              // the queries of /end
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{private: private, codes: map[string]url.Values{}, claims: map[string]any{}}
	answer := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": p.url, "jwks_uri": p.url + "/keys", "authorization_endpoint": p.url + "/authorize",
			"token_endpoint": p.url + "/token", "end_session_endpoint": p.url + "/end",
		})
	})
	routes.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"keys": []any{map[string]string{
			"kty": "OKP", "crv": "Ed25519", "kid": "one", "alg": "EdDSA", "use": "sig", "x": b64(public),
		}}})
	})
	routes.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><title>Provider</title><link rel="icon" href="data:,"><form method="post" action="/authorize"><input name="asked" type="hidden" value="%s"><button>I am Mia</button></form>`,
			html.EscapeString(r.URL.RawQuery))
	})
	routes.HandleFunc("POST /authorize", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.approve(r.PostFormValue("asked")), http.StatusSeeOther)
	})
	routes.HandleFunc("POST /token", p.token)
	routes.HandleFunc("GET /end", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = append(p.ended, r.URL.RawQuery)
		http.Redirect(w, r, r.URL.Query().Get("post_logout_redirect_uri"), http.StatusSeeOther)
	})
	p.Server = httptest.NewServer(routes)
	t.Cleanup(p.Close)
	p.url = strings.Replace(p.URL, "127.0.0.1", "localhost", 1)
	return p
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// approve is the address that a browser goes to when its user has logged in.
func (p *provider) approve(query string) string {
	asked, _ := url.ParseQuery(query)
	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = asked
	return asked.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode()
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	if !known || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != b64(challenge[:]) ||
		r.PostFormValue("client_id") != asked.Get("client_id") || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error": "invalid_grant"}`)
		return
	}
	claims := map[string]any{
		"iss": p.url, "aud": asked.Get("client_id"), "sub": "mia", "nonce": asked.Get("nonce"),
		"exp": time.Now().Add(time.Hour).Unix(), "role": "auditor",
	}
	maps.Copy(claims, p.claims)
	body, _ := json.Marshal(claims)
	input := b64([]byte(`{"alg":"EdDSA","kid":"one"}`)) + "." + b64(body)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": "opaque", "token_type": "Bearer", "id_token": input + "." + b64(ed25519.Sign(p.private, []byte(input))),
	})
}

// says changes what the next ID tokens say.
func (p *provider) says(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims = claims
}

// eachWithProvider runs a test on both engines, with users of a provider.
func eachWithProvider(t *testing.T, test func(t *testing.T, w *world, p *provider)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		p := newProvider(t)
		claims, err := oidc.ParseClaims(nil)
		if err != nil {
			t.Fatal(err)
		}
		issuer := oidc.New(oidc.Config{Issuer: p.url, Audience: "api", Tenant: "default", Claims: claims})
		login, err := issuer.Login("console", "", make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
		test(t, newWorld(t, db, rootKey, func(api *servertest.Config, pages *console.Config) {
			api.Callers.Tokens, api.Callers.Logins, pages.Provider = issuer, login, login
		}), p)
	})
}

func TestAUserLogsInAndOutAtAProvider(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, w *world, provider *provider) {
		w.tell()
		p := browsertest.Open(t, w.url)
		p.Visits(provider.url)
		p.Go("/console/log?actor=user:mia")
		p.WaitFor("#key")
		p.Axe()
		p.Click("main a.button")
		p.WaitFor("form[action='/authorize']")
		p.Click("button")
		p.WaitFor("nav.side")
		containsAll(t, p.URL(), "/console/log?actor=user")
		containsAll(t, p.Text(".who"), "mia")
		p.Go("/console/k/staging")
		containsAll(t, p.Text("main"), "staging")
		p.Click("form[action='/console/logout'] button")
		p.WaitFor("#key")
		provider.mu.Lock()
		defer provider.mu.Unlock()
		if len(provider.ended) != 1 || !strings.Contains(provider.ended[0], "client_id=console") {
			t.Errorf("the provider heard %q", provider.ended)
		}
	})
}

// begin begins a login, and returns where the provider sends the browser.
func (w *world) begin(c *http.Client, p *provider) string {
	w.t.Helper()
	status, to := get(w.t, c, w.url+"/console/login/oidc?next=https://evil.example/")
	_, query, _ := strings.Cut(to, "?")
	if status != http.StatusSeeOther || !strings.HasPrefix(to, p.url+"/authorize?") {
		w.t.Fatalf("got %d to %s", status, to)
	}
	return p.approve(query)
}

func (w *world) isLoggedIn(c *http.Client) bool {
	w.t.Helper()
	status, _ := get(w.t, c, w.url+"/console/")
	return status == http.StatusOK
}

func TestALoginAtAProviderIsRefused(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, w *world, p *provider) {
		for name, claims := range map[string]map[string]any{
			"with another nonce":       {"nonce": "another"},
			"without a nonce":          {"nonce": nil},
			"for another audience":     {"aud": "api"},
			"of another issuer":        {"iss": "https://evil.example"},
			"given to another":         {"azp": "another", "aud": []string{"console", "another"}},
			"for two, given to nobody": {"aud": []string{"console", "another"}},
			"that has expired":         {"exp": time.Now().Add(-time.Hour).Unix()},
			"without an end":           {"exp": nil},
			"of nobody":                {"sub": ""},
			"too long for a cookie":    {"groups": strings.Repeat("x", 4000)},
		} {
			p.says(claims)
			c := cookieClient(t)
			if status, _ := get(t, c, w.begin(c, p)); status != http.StatusUnauthorized || w.isLoggedIn(c) {
				t.Errorf("a token %s: got %d", name, status)
			}
		}
		p.says(nil)
		c, other := cookieClient(t), cookieClient(t)
		callback := w.begin(c, p)
		w.begin(other, p)
		for name, from := range map[string]*http.Client{"without a login": cookieClient(t), "of another browser": other} {
			if status, _ := get(t, from, callback); status != http.StatusUnauthorized || w.isLoggedIn(from) {
				t.Errorf("a callback %s: got %d", name, status)
			}
		}
		if status, _ := get(t, c, callback+"&iss=https://evil.example"); status != http.StatusUnauthorized {
			t.Errorf("a callback of another issuer: got %d", status)
		}
		c = cookieClient(t)
		callback = w.begin(c, p)
		at, err := url.Parse(w.url + "/console/login/oidc/callback")
		if err != nil {
			t.Fatal(err)
		}
		kept := c.Jar.Cookies(at)
		if status, _ := get(t, c, callback); status != http.StatusOK || !w.isLoggedIn(c) {
			t.Fatalf("a good login: got %d", status)
		}
		if again := c.Jar.Cookies(at); len(again) != 1 || again[0].Name != "annals" { // the session; the attempt is over
			t.Errorf("got the cookies %v", again)
		}
		thief := cookieClient(t)
		thief.Jar.SetCookies(at, kept)
		if status, _ := get(t, thief, callback); status != http.StatusUnauthorized || w.isLoggedIn(thief) {
			t.Errorf("a code that was used: got %d", status)
		}
	})
}

func TestASessionOfAProviderHidesItsTokenAndEndsWithIt(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, w *world, p *provider) {
		p.says(map[string]any{"exp": time.Now().Add(10 * time.Second).Unix()})
		c := cookieClient(t)
		if status, _ := get(t, c, w.begin(c, p)); status != http.StatusOK {
			t.Fatalf("got %d", status)
		}
		at, err := url.Parse(w.url + "/console/")
		if err != nil {
			t.Fatal(err)
		}
		session := c.Jar.Cookies(at)[0].Value
		sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(session, "session."))
		if err != nil || strings.Contains(string(sealed), "eyJ") || strings.Contains(string(sealed), "mia") {
			t.Errorf("the cookie can be read: %q, %v", sealed, err)
		}
		me, err := w.as(session).Whoami(t.Context())
		if err != nil || me.Subject != "user:mia" || me.Role != "auditor" || me.Authentication != "jwt:"+p.url {
			t.Errorf("got %+v, %v", me, err)
		}
		databasetest.Until(t, "the session ends", func() bool { return !w.isLoggedIn(c) })
	})
}

func TestAnInvitedPersonMayLogInAtTheProviderInstead(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, w *world, _ *provider) {
		_, page := w.send(w.login(rootKey), "/console/access/invite", "display_name", "Mia", "subject", "user:mia", "role", "member", "lasts", "for a day")
		_, code, _ := strings.Cut(valueOf(t, page, "link"), "#code=")
		_, page = w.send(browse(t), "/console/invited", "code", code)
		containsAll(t, page, "Accept, and get my key", `href="/console/login/oidc"`)
	})
}
