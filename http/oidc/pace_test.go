package oidc

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

// counting counts what is asked of an issuer.
type counting struct{ asked atomic.Int64 }

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

func TestForgedTokensMakeNobodyAskTheIssuerAgainAndAgain(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	key, public := edKey(t, "k")
	p.publish(public)
	issuer := p.issuer(t)
	now, asked := noon, &counting{}
	issuer.cfg.Now, issuer.hear = func() time.Time { return now }, asked

	good := key.token(t, p.claims(nil))
	if _, err := issuer.Principal(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	forger, _ := edKey(t, "k") // calls its key as the issuer does
	stranger, _ := edKey(t, "another")
	for range 50 {
		for _, forged := range []string{forger.token(t, p.claims(nil)), stranger.token(t, p.claims(nil))} {
			if _, err := issuer.Principal(t.Context(), forged); err == nil {
				t.Fatal("a forged token opens")
			}
		}
		if _, err := issuer.Principal(t.Context(), good); err != nil {
			t.Fatalf("a good token does not open meanwhile: %v", err)
		}
	}
	if got, want := asked.asked.Load(), int64(1+atOnce); got != want { // who it is, and for its keys
		t.Errorf("the issuer was asked %d times, want %d", got, want)
	}

	newer, public := edKey(t, "newer")
	p.publish(public)
	rotated := newer.token(t, p.claims(nil))
	if _, err := issuer.Principal(t.Context(), rotated); !errors.Is(err, domain.ErrUnauthenticated) {
		t.Errorf("a new key, when nobody may be asked: got %v", err)
	}
	now = now.Add(between)
	_, err := issuer.Principal(t.Context(), rotated)
	for began := time.Now(); err != nil && time.Since(began) < 5*time.Second; { // go-oidc may still hold the refusal
		_, err = issuer.Principal(t.Context(), rotated)
	}
	if err != nil {
		t.Errorf("a new key, a little later: %v", err)
	}
}

func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		"mia", "", "a b", "user:mia", "../root", "日本", "mia@acme.example", "*", "x\x00y",
		"_system",
	} {
		f.Add(seed, seed, seed, "admin")
		f.Add("mia", "", seed, seed)
	}
	claims, err := ParseClaims(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, user, agent, group, role string) {
		p, err := claims.principal(map[string]any{
			"sub": user, "agent": agent, "teams": []any{group, 7, nil}, "projects": group, "role": []any{role},
		})
		if err != nil {
			if !errors.Is(err, domain.ErrUnauthenticated) {
				t.Errorf("refused as %v", err)
			}
			return
		}
		if p.Subject != domain.Entity("user:"+user) && p.Subject != domain.Entity("agent:"+agent) {
			t.Errorf("%q and %q became %s", user, agent, p.Subject)
		}
		for _, e := range append(p.Memberships, p.Subject) {
			if again, err := domain.ParseEntity(string(e)); err != nil || again != e {
				t.Errorf("%q is no entity: %v", e, err)
			}
		}
		if p.Role == domain.Root || p.Tenant != "" {
			t.Errorf("a token made %+v", p)
		}
	})
}
