package http_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/keys"
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
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			cfg.Callers.Keys = keys.NewKeys(db, cfg.Writer.(*events.Log))
			cfg.Callers.Tokens = issued{
				"mia.s.token": {Subject: "user:mia", Role: domain.Member},
				"bot.s.token": {Subject: "agent:bot", OnBehalfOf: "user:mia", Role: domain.Member},
				"boss.s.tok":  {Subject: "user:olga", Role: domain.Admin},
			}
		})
		w.ask("GET", "/v1/whoami", nil).want(http.StatusUnauthorized) // not open, though nobody has a key
		w.ask("GET", "/v1/whoami", nil, bearer("eve.s.token")).want(http.StatusUnauthorized)
		w.ask("POST", "/v1/knowledge", item("a", "by mia"), bearer("mia.s.token")).want(http.StatusCreated)
		me := w.ask("GET", "/v1/whoami", nil, bearer("bot.s.token")).want(http.StatusOK).json()
		like(t, me, object{"on_behalf_of": "user:mia", "authentication": "jwt:https://issuer.example"})
		w.ask("GET", "/v1/knowledge/a", nil, bearer("bot.s.token")).want(http.StatusOK)
		w.ask("GET", "/v1/whoami", nil, bearer("bot.s.token"), "Annals-On-Behalf-Of: user:bob").want(http.StatusForbidden)
		w.ask("GET", "/v1/whoami", nil, bearer("mia.s.token"), "Annals-On-Behalf-Of: user:bob").want(http.StatusForbidden)
		w.ask("GET", "/v1/whoami", nil, bearer("boss.s.tok"), "Annals-Tenant: other").want(http.StatusForbidden)
		key := w.given("boss.s.tok", object{"subject": "user:bob", "role": "admin"})
		w.ask("GET", "/v1/knowledge/a", nil, bearer(key)).want(http.StatusOK)
	})
}

func TestTokensOfATenantThatNobodyHasMadeOpenNothing(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			cfg.Callers.Keys = keys.NewKeys(db, cfg.Writer.(*events.Log))
			cfg.Callers.RootKey = rootKey
			cfg.Callers.Tokens = issued{"mia.s.token": {Tenant: "acme", Subject: "user:mia", Role: domain.Member}}
		})
		w.ask("POST", "/v1/knowledge", item("a", "by mia"), bearer("mia.s.token")).want(http.StatusUnauthorized)
		w.ask("POST", "/v1/tenants", object{"name": "acme"}, bearer(rootKey)).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge", item("a", "by mia"), bearer("mia.s.token")).want(http.StatusCreated)
	})
}

func TestTheServerIsReadyWithoutWhatStandsBesideIt(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
		cfg.Probes = append(cfg.Probes, operate.Probe{Name: "tokens", Beside: true, Check: func(context.Context) error { return errors.New("away") }},
			operate.Probe{Name: "writes", Check: func(context.Context) error { return domain.Refuse(domain.ErrBusy, "slow") }})
	})
	ready := w.ask("GET", "/readyz", nil).want(http.StatusOK).json()
	checks, _ := ready["checks"].([]any)
	like(t, checks, []any{
		object{}, object{"status": "degraded", "reason": "away"}, object{"status": "degraded", "reason": "slow"},
	})
}
