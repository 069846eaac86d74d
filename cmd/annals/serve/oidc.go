package serve

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/proof"
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

// issuer is the issuer of the settings; nil if no tokens are accepted.
func (t tokens) issuer() (*oidc.Issuer, error) {
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

// believe lets the API accept the issuer's tokens. Readiness reports whether the issuer answers, and the log does so
// at the start.
func (s *Service) believe(issuer *oidc.Issuer, api *annalshttp.Config) []operate.Probe {
	if issuer == nil {
		return nil
	}
	s.issuer, api.Callers.Tokens = issuer, issuer
	return []operate.Probe{{Name: "tokens", Beside: true, Check: func(ctx context.Context) error {
		err := issuer.Ready(ctx)
		if refusal, is := errors.AsType[*domain.Refusal](err); is {
			return refusal // only the log may have the details
		}
		return err
	}}}
}

// login lets users of the console log in at the issuer; nil if there is no client for that.
func (t tokens) login(issuer *oidc.Issuer, key proof.Key) (*oidc.Login, error) {
	if issuer == nil || t.Client == "" {
		return nil, nil
	}
	sealing, err := key.Derive("annals logins at a provider")
	if err != nil {
		return nil, err
	}
	return issuer.Login(t.Client, os.Getenv("ANNALS_OIDC_CLIENT_SECRET"), sealing)
}

// introduce asks the issuer for its configuration.
func (s *Service) introduce(ctx context.Context) {
	if s.issuer == nil {
		return
	}
	if err := s.issuer.Ready(ctx); err != nil && ctx.Err() == nil {
		s.logger.WarnContext(ctx, "no token is valid until its issuer answers", "error", err)
	}
	if s.issuer.Overheard() {
		s.logger.WarnContext(ctx, "keys of tokens are read without TLS: "+
			"an attacker between the issuer and this server can impersonate every user")
	}
}
