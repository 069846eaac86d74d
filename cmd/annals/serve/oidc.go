package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/oidc"
	"github.com/annals-kb/annals/http/operate"
)

// tokens are the settings of an OpenID provider whose tokens are accepted besides keys.
type tokens struct {
	Issuer     string   `group:"tokens" name:"oidc-issuer" env:"ANNALS_OIDC_ISSUER" placeholder:"URL"`
	Audience   string   `group:"tokens" name:"oidc-audience" env:"ANNALS_OIDC_AUDIENCE" placeholder:"NAME"`
	OIDCTenant string   `group:"tokens" env:"ANNALS_OIDC_TENANT" default:"default" placeholder:"TENANT"`
	Client     string   `group:"tokens" name:"oidc-client-id" env:"ANNALS_OIDC_CLIENT_ID" placeholder:"ID"`
	Redirect   string   `group:"tokens" name:"oidc-redirect" env:"ANNALS_OIDC_REDIRECT" placeholder:"URL"`
	Claims     []string `group:"tokens" name:"oidc-claims" env:"ANNALS_OIDC_CLAIMS" placeholder:"user=CLAIM"`
}

// believed is the issuer of the settings; nil if no tokens are accepted.
func (t tokens) believed() (*oidc.Issuer, error) {
	if t.Issuer == "" {
		if t.Audience != "" || t.Client != "" || len(t.Claims) > 0 {
			return nil, errors.New("oidc-issuer (ANNALS_OIDC_ISSUER): is missing, though an audience, a client or claims of " +
				"tokens are set")
		}
		return nil, nil
	}
	claims, err := oidc.ParseClaims(t.Claims)
	if err != nil {
		return nil, fmt.Errorf("oidc-claims (ANNALS_OIDC_CLAIMS): %w", err)
	}
	cfg := oidc.Config{Issuer: t.Issuer, Audience: t.Audience, Tenant: t.OIDCTenant, Claims: claims}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("oidc-issuer (ANNALS_OIDC_ISSUER): %w", err)
	}
	return oidc.New(cfg), nil
}

func (c Config) oidcIssuer() string { return c.Issuer }

func checkOIDC(c Config) error {
	_, err := c.believed()
	return err
}

// openOIDC lets the API accept the issuer's tokens. Readiness reports whether the issuer answers, and the log does so
// at the start.
func openOIDC(_ context.Context, c *core) (part, error) {
	issuer, err := c.cfg.believed()
	if err != nil || issuer == nil {
		return part{}, err
	}
	p := part{
		reads: []func(context.Context){func(ctx context.Context) { introduce(ctx, issuer, c.logger) }},
		api:   func(api *annalshttp.Config) { api.Callers.Tokens = issuer },
		probes: []operate.Probe{{Name: "tokens", Beside: true, Check: func(ctx context.Context) error {
			err := issuer.Ready(ctx)
			if refusal, is := errors.AsType[*domain.Refusal](err); is {
				return refusal // only the log may have the details
			}
			return err
		}}},
	}
	if c.cfg.Client == "" {
		return p, nil
	}
	sealing, err := c.key.Derive("annals logins at a provider")
	if err != nil {
		return p, fmt.Errorf("let users log in at the issuer: %w", err)
	}
	login, err := issuer.Login(c.cfg.Client, os.Getenv("ANNALS_OIDC_CLIENT_SECRET"), sealing)
	if err != nil {
		return p, fmt.Errorf("let users log in at the issuer: %w", err)
	}
	p.offers = []any{loginAt{login, c.cfg.Redirect}}
	return p, nil
}

// loginAt lets users of the console log in at the issuer, which leads back to an address; empty for the usual one.
type loginAt struct {
	*oidc.Login
	redirect string
}

func (l loginAt) Redirect() string { return l.redirect }

// introduce asks the issuer for its configuration.
func introduce(ctx context.Context, issuer *oidc.Issuer, logger *slog.Logger) {
	if err := issuer.Ready(ctx); err != nil && ctx.Err() == nil {
		logger.WarnContext(ctx, "no token is valid until its issuer answers", "error", err)
	}
	if issuer.Overheard() {
		logger.WarnContext(ctx, "keys of tokens are read without TLS: "+
			"an attacker between the issuer and this server can impersonate every user")
	}
}
