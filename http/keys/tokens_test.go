package keys_test

import (
	"cmp"
	"context"
	"net/http"
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/http/servertest"
)

// issued are the tokens that an issuer has given.
type issued map[string]domain.Principal

func (i issued) Principal(_ context.Context, token string) (domain.Principal, error) {
	p, known := i[token]
	if !known {
		return p, domain.Refuse(domain.ErrUnauthenticated, "not one of these")
	}
	p.Tenant, p.Authentication = cmp.Or(p.Tenant, domain.DefaultTenant), "jwt:https://issuer.example"
	return p, nil
}

func TestTokensOpenBesideKeys(t *testing.T) {
	configure := func(w *World, cfg *Config) {
		Keyed(w, cfg)
		cfg.Callers.Tokens = issued{
			"mia.s.token": {Subject: "user:mia", Role: domain.Member},
			"bot.s.token": {Subject: "agent:bot", OnBehalfOf: "user:mia", Role: domain.Member},
			"boss.s.tok":  {Subject: "user:olga", Role: domain.Admin},
		}
	}
	EachWith(t, configure, func(t *testing.T, w *World) {
		w.Ask("GET", "/v1/whoami", nil).Want(http.StatusUnauthorized) // not open, though nobody has a key
		w.Ask("GET", "/v1/whoami", nil, Bearer("eve.s.token")).Want(http.StatusUnauthorized)
		w.Ask("POST", "/v1/knowledge", Item("a", "by mia"), Bearer("mia.s.token")).Want(http.StatusCreated)
		me := w.Ask("GET", "/v1/whoami", nil, Bearer("bot.s.token")).Want(http.StatusOK).JSON()
		Like(t, me, Object{"on_behalf_of": "user:mia", "authentication": "jwt:https://issuer.example"})
		w.Ask("GET", "/v1/knowledge/a", nil, Bearer("bot.s.token")).Want(http.StatusOK)
		w.Ask("GET", "/v1/whoami", nil, Bearer("bot.s.token"), "Annals-On-Behalf-Of: user:bob").Want(http.StatusForbidden)
		w.Ask("GET", "/v1/whoami", nil, Bearer("mia.s.token"), "Annals-On-Behalf-Of: user:bob").Want(http.StatusForbidden)
		w.Ask("GET", "/v1/whoami", nil, Bearer("boss.s.tok"), "Annals-Tenant: other").Want(http.StatusForbidden)
		key := w.Given("boss.s.tok", Object{"subject": "user:bob", "role": "admin"})
		w.Ask("GET", "/v1/knowledge/a", nil, Bearer(key)).Want(http.StatusOK)
	})
}

func TestTokensOfATenantThatNobodyHasMadeOpenNothing(t *testing.T) {
	configure := func(w *World, cfg *Config) {
		Rooted(w, cfg)
		cfg.Callers.Tokens = issued{"mia.s.token": {Tenant: "acme", Subject: "user:mia", Role: domain.Member}}
	}
	EachWith(t, configure, func(_ *testing.T, w *World) {
		w.Ask("POST", "/v1/knowledge", Item("a", "by mia"), Bearer("mia.s.token")).Want(http.StatusUnauthorized)
		w.Ask("POST", "/v1/tenants", Object{"name": "acme"}, Bearer(RootKey)).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge", Item("a", "by mia"), Bearer("mia.s.token")).Want(http.StatusCreated)
	})
}
