package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
)

// provider is an issuer on loopback.
type provider struct {
	*httptest.Server
	mu   sync.Mutex
	keys []map[string]string
	down bool
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case p.down:
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]any{
				"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL, "token_endpoint": p.URL,
				"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "EdDSA", "HS256", "none"},
			})
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": p.keys})
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// is makes the provider answer nothing, or again.
func (p *provider) is(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// withdraw takes all keys back.
func (p *provider) withdraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = nil
}

func (p *provider) publish(key map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, key)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// signer signs with one algorithm and key.
type signer struct {
	alg, kid string
	sign     func(input []byte) []byte
}

func (s signer) token(t *testing.T, claims map[string]any) string {
	t.Helper()
	head, err := json.Marshal(map[string]string{"alg": s.alg, "kid": s.kid, "typ": "JWT"})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	input := b64(head) + "." + b64(body)
	return input + "." + b64(s.sign([]byte(input)))
}

func edKey(t *testing.T, kid string) (signer, map[string]string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{"EdDSA", kid, func(in []byte) []byte { return ed25519.Sign(private, in) }},
		map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": kid, "alg": "EdDSA", "use": "sig", "x": b64(public)}
}

func rsaKey(t *testing.T, kid string) (signer, map[string]string) {
	t.Helper()
	return rsaKeyOf(t, kid, 2048)
}

func rsaKeyOf(t *testing.T, kid string, bits int) (signer, map[string]string) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return signer{"RS256", kid, func(in []byte) []byte {
			sum := sha256.Sum256(in)
			signed, err := rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum[:])
			if err != nil {
				t.Error(err)
			}
			return signed
		}},
		map[string]string{
			"kty": "RSA", "kid": kid, "alg": "RS256", "use": "sig", "n": b64(private.N.Bytes()),
			"e": b64(big.NewInt(int64(private.E)).Bytes()),
		}
}

func pssKey(t *testing.T, kid string) (signer, map[string]string) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return signer{"PS256", kid, func(in []byte) []byte {
			sum := sha256.Sum256(in)
			signed, err := rsa.SignPSS(rand.Reader, private, crypto.SHA256, sum[:],
				&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
			if err != nil {
				t.Error(err)
			}
			return signed
		}},
		map[string]string{
			"kty": "RSA", "kid": kid, "use": "sig", "n": b64(private.N.Bytes()),
			"e": b64(big.NewInt(int64(private.E)).Bytes()),
		}
}

func ecKey(t *testing.T, kid string) (signer, map[string]string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := private.PublicKey.Bytes() // 4, then both coordinates
	if err != nil {
		t.Fatal(err)
	}
	return signer{"ES256", kid, func(in []byte) []byte {
			sum := sha256.Sum256(in)
			r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
			if err != nil {
				t.Error(err)
			}
			return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}},
		map[string]string{
			"kty": "EC", "crv": "P-256", "kid": kid, "alg": "ES256", "use": "sig", "x": b64(point[1:33]),
			"y": b64(point[33:]),
		}
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func (p *provider) issuer(t *testing.T) *Issuer {
	t.Helper()
	claims, err := ParseClaims([]string{"user=email", "role=realm_access.roles"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Issuer: p.URL, Audience: "annals", Tenant: "acme", Claims: claims, Now: func() time.Time { return noon }}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	return New(cfg)
}

// claims are good ones, changed.
func (p *provider) claims(changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": p.URL, "aud": "annals", "sub": "auth0|1", "email": "mia@acme.example",
		"iat": noon.Unix(), "exp": noon.Add(time.Hour).Unix(), "teams": []string{"pay", "/no group"}, "projects": "456",
	}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

func TestATokenIsAPrincipal(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	issuer := p.issuer(t)
	for _, makeKey := range []func(*testing.T, string) (signer, map[string]string){edKey, rsaKey, ecKey, pssKey} {
		key, public := makeKey(t, "k"+string(rune('0'+len(p.keys))))
		p.publish(public) // the others were read before: a new key is looked for
		for _, c := range []struct {
			changes map[string]any
			want    domain.Principal
		}{
			{nil, domain.Principal{Subject: "user:mia@acme.example", Role: domain.Member}},
			{
				map[string]any{"realm_access": map[string]any{"roles": []string{"x", "auditor"}}},
				domain.Principal{Subject: "user:mia@acme.example", Role: domain.Auditor},
			},
			{
				map[string]any{"realm_access": map[string]any{"roles": "root"}},
				domain.Principal{Subject: "user:mia@acme.example", Role: domain.Member},
			},
			{
				map[string]any{"agent": "bot"},
				domain.Principal{Subject: "agent:bot", OnBehalfOf: "user:mia@acme.example", Role: domain.Member},
			},
			{map[string]any{"agent": "bot", "email": nil}, domain.Principal{Subject: "agent:bot", Role: domain.Member}},
			{
				map[string]any{"exp": noon.Add(-30 * time.Second).Unix(), "nbf": noon.Add(30 * time.Second).Unix()},
				domain.Principal{Subject: "user:mia@acme.example", Role: domain.Member},
			},
		} {
			got, err := issuer.Principal(t.Context(), key.token(t, p.claims(c.changes)))
			if err != nil {
				t.Fatalf("%s: %v: %v", key.alg, c.changes, err)
			}
			c.want.Tenant, c.want.Authentication = "acme", "jwt:"+p.URL
			c.want.Memberships = []domain.Entity{"project:456", "team:pay"}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("%s: %v (-got +want):\n%s", key.alg, c.changes, diff)
			}
		}
	}
}

func TestWhatIsWrongWithATokenOpensNothing(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	issuer := p.issuer(t)
	good, public := edKey(t, "k")
	p.publish(public)
	if _, err := issuer.Principal(t.Context(), good.token(t, p.claims(nil))); err != nil {
		t.Fatal(err)
	}
	for what, changes := range map[string]map[string]any{
		"expired":          {"exp": noon.Add(-2 * time.Minute).Unix()},
		"without an end":   {"exp": nil},
		"not yet valid":    {"nbf": noon.Add(2 * time.Minute).Unix()},
		"for another":      {"aud": "somebody-else"},
		"for nobody":       {"aud": nil},
		"of another":       {"iss": "https://evil.example"},
		"of nobody":        {"email": nil},
		"of somebody odd":  {"email": "mia|1"},
		"of several users": {"email": []string{"a", "b"}},
	} {
		if p, err := issuer.Principal(t.Context(), good.token(t, p.claims(changes))); !errors.Is(err,
			domain.ErrUnauthenticated) {
			t.Errorf("%s: got %+v, %v", what, p, err)
		}
	}
	stranger, _ := edKey(t, "k")
	unknown, _ := edKey(t, "another")
	none := signer{"none", "k", func([]byte) []byte { return nil }}
	secret := signer{"HS256", "k", func(in []byte) []byte {
		mac := hmac.New(sha256.New, []byte(public["x"]))
		mac.Write(in)
		return mac.Sum(nil)
	}}
	for what, by := range map[string]signer{
		"another's key": stranger, "an unknown key": unknown, "no signature": none,
		"a shared secret": secret,
	} {
		if p, err := issuer.Principal(t.Context(), by.token(t, p.claims(nil))); !errors.Is(err, domain.ErrUnauthenticated) {
			t.Errorf("%s: got %+v, %v", what, p, err)
		}
	}
	for _, garbage := range []string{"", "a.b.c", "..", good.token(t, p.claims(nil)) + "x"} {
		if _, err := issuer.Principal(t.Context(), garbage); !errors.Is(err, domain.ErrUnauthenticated) {
			t.Errorf("%.20q: got %v", garbage, err)
		}
	}
}

func TestAKeyThatIsShortOrForEncryptionSignsNoToken(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	good, public := edKey(t, "good")
	short, shortPublic := rsaKeyOf(t, "short", 1024)
	encrypting, encryptingPublic := rsaKey(t, "encrypting")
	encryptingPublic["use"] = "enc"
	for _, key := range []map[string]string{public, shortPublic, encryptingPublic} {
		p.publish(key)
	}
	issuer := p.issuer(t)
	if _, err := issuer.Principal(t.Context(), good.token(t, p.claims(nil))); err != nil {
		t.Fatal(err)
	}
	for _, key := range []signer{short, encrypting} {
		if _, err := issuer.Principal(t.Context(), key.token(t, p.claims(nil))); !errors.Is(err, domain.ErrUnauthenticated) {
			t.Errorf("a token signed with the key %q: got %v", key.kid, err)
		}
	}
}

func TestClaimsHaveNames(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"user", "king=x", ""} {
		if _, err := ParseClaims([]string{wrong}); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
