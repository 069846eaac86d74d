package main

import (
	"fmt"

	"github.com/annals-kb/annals/oidc"
)

// tokens says whose tokens are believed, beside keys.
type tokens struct {
	// Issuer is an OpenID provider. With it, nobody gets in without a key or a token.
	Issuer string `group:"tokens" name:"oidc-issuer" env:"ANNALS_OIDC_ISSUER" placeholder:"URL" help:"Believe the tokens of this OpenID provider, beside keys."`

	// Audience keeps tokens for other services from opening this one.
	Audience string `group:"tokens" name:"oidc-audience" env:"ANNALS_OIDC_AUDIENCE" placeholder:"NAME" help:"Whom its tokens must be for."`

	// IssuerTenant is whose members the provider knows.
	IssuerTenant string `group:"tokens" name:"oidc-tenant" env:"ANNALS_OIDC_TENANT" default:"default" placeholder:"TENANT" help:"The tenant of whoever has one."`

	// Claims maps what a token says to who somebody is.
	Claims []string `group:"tokens" name:"oidc-claims" env:"ANNALS_OIDC_CLAIMS" placeholder:"user=CLAIM" help:"Where a token says what: user=sub,agent=agent,teams=teams,projects=projects,role=role unless told; realm_access.roles goes into an object."`
}

// issuer is nil if no tokens are believed.
func (t tokens) issuer() (*oidc.Issuer, error) {
	if t.Issuer == "" {
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
