package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/oidc"
)

// tokens says whose tokens are believed, beside keys.
type tokens struct {
	// Issuer is an OpenID provider. With it, nobody gets in without a key or a token.
	Issuer string `group:"tokens" name:"oidc-issuer" env:"ANNALS_OIDC_ISSUER" placeholder:"URL"`

	// Audience keeps tokens for other services from opening this one.
	Audience string `group:"tokens" name:"oidc-audience" env:"ANNALS_OIDC_AUDIENCE" placeholder:"NAME"`

	// IssuerTenant is whose members the provider knows.
	IssuerTenant string `group:"tokens" name:"oidc-tenant" env:"ANNALS_OIDC_TENANT" default:"default" placeholder:"TENANT"`

	// Claims maps what a token says to who somebody is.
	Claims []string `group:"tokens" name:"oidc-claims" env:"ANNALS_OIDC_CLAIMS" placeholder:"user=CLAIM"`
}

// issuer is nil if no tokens are believed.
func (t tokens) issuer() (*oidc.Issuer, error) {
	if t.Issuer == "" {
		if t.Audience != "" || len(t.Claims) > 0 {
			return nil, errors.New("oidc-issuer (ANNALS_OIDC_ISSUER): is missing, though an audience or claims of tokens are set")
		}
		return nil, nil
	}
	claims, err := oidc.ParseClaims(t.Claims)
	if err != nil {
		return nil, fmt.Errorf("oidc-claims (ANNALS_OIDC_CLAIMS): %w", err)
	}
	cfg := oidc.Config{Issuer: t.Issuer, Audience: t.Audience, Tenant: t.IssuerTenant, Claims: claims}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("oidc-issuer (ANNALS_OIDC_ISSUER): %w", err)
	}
	return oidc.New(cfg), nil
}

// beside adds to how keys open the server that tokens do.
func (t tokens) beside(keys string) string {
	if t.Issuer == "" {
		return keys
	}
	return strings.Replace(keys, "a key", "a key, or a token of "+t.Issuer, 1)
}

// believe lets the issuer's tokens open the API. Whether the issuer can be asked is known in readiness, and said in the log
// when the server starts: nobody else would notice before the first token comes.
func (s *Service) believe(issuer *oidc.Issuer, api *annalshttp.Config) {
	if issuer == nil {
		return
	}
	s.issuer, api.Tokens = issuer, issuer
	api.Probes = append(api.Probes, annalshttp.Probe{Name: "tokens", Beside: true, Check: func(ctx context.Context) error {
		err := issuer.Ready(ctx)
		if refusal, told := errors.AsType[*domain.Refusal](err); told {
			return refusal // what else is known is for the log
		}
		return err
	}})
}

// introduce asks the issuer of tokens who it is.
func (s *Service) introduce(ctx context.Context) {
	if s.issuer == nil {
		return
	}
	if err := s.issuer.Ready(ctx); err != nil && ctx.Err() == nil {
		s.logger.WarnContext(ctx, "tokens open nothing until their issuer answers", "error", err)
	}
	if s.issuer.Overheard() {
		s.logger.WarnContext(ctx, "keys of tokens are read without TLS: whoever stands between the issuer and this server can let himself in as anybody")
	}
}
