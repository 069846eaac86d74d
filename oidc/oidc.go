// Package oidc finds out whom an OpenID provider has given a token.
//
// Its one rule: a token says who somebody is, and never more than a tenant's admin.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/annals-kb/annals/domain"
)

// Config says whose tokens are believed, and what their claims mean.
type Config struct {
	Issuer   string // as in the tokens; its keys are found below /.well-known/openid-configuration
	Audience string // whom tokens must be for
	Tenant   string // whose members the issuer knows
	Claims   Claims
	// Now tells the time. Nil for time.Now.
	Now func() time.Time
}

// Validate names everything that is wrong.
func (c Config) Validate() error {
	var errs []error
	if !strings.HasPrefix(c.Issuer, "https://") && !strings.HasPrefix(c.Issuer, "http://") {
		errs = append(errs, errors.New("the issuer must be a URL"))
	}
	if c.Audience == "" {
		errs = append(errs, errors.New("the audience is missing: tokens for others would open this server"))
	}
	if c.Tenant == "" || c.Tenant == domain.SystemTenant {
		errs = append(errs, errors.New("the tenant must be one of those there are"))
	}
	return errors.Join(errs...)
}

// Issuer verifies tokens. Its keys are read when the first token comes, and again when one is signed with a
// key that it does not know, but no more often than now and then. It is safe for concurrent use.
type Issuer struct {
	cfg    Config
	client *http.Client

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier // nil until the issuer has answered
}

// New makes an issuer of a configuration that [Config.Validate] accepts. It asks nobody yet.
func New(cfg Config) *Issuer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	const patience = 10 * time.Second
	return &Issuer{cfg: cfg, client: &http.Client{Timeout: patience, Transport: newPace(http.DefaultTransport, cfg.Now)}}
}

// algorithms are those with which nobody but the issuer can sign.
var algorithms = []string{oidc.RS256, oidc.ES256, oidc.EdDSA}

func (i *Issuer) ready(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.verifier != nil {
		return i.verifier, nil
	}
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: ask the issuer of tokens for its keys: %w", domain.ErrUnavailable, err)
	}
	i.verifier = provider.Verifier(&oidc.Config{
		ClientID: i.cfg.Audience, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true, // see timely
	})
	return i.verifier, nil
}

// Principal is whoever has the token. The error is a refusal that matches [domain.ErrUnauthenticated], or
// matches [domain.ErrUnavailable] if the issuer cannot be asked for its keys.
func (i *Issuer) Principal(ctx context.Context, token string) (domain.Principal, error) {
	verifier, err := i.ready(ctx)
	if err != nil {
		return domain.Principal{}, err
	}
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return domain.Principal{}, untrusted(err)
	}
	claims := map[string]any{}
	if err := verified.Claims(&claims); err != nil {
		return domain.Principal{}, untrusted(err)
	}
	if err := timely(claims, i.cfg.Now()); err != nil {
		return domain.Principal{}, err
	}
	p, err := i.cfg.Claims.principal(claims)
	p.Tenant, p.Authentication = i.cfg.Tenant, "jwt:"+i.cfg.Issuer
	return p, err
}

// untrusted tells no more than what the bearer can read in the token itself.
func untrusted(err error) error {
	if strings.Contains(err.Error(), "fetching keys") {
		return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
	}
	return refuse("the token is not one that this server trusts: another issuer, another audience or another key").
		WithFix("ask for a token for this server's audience")
}

func refuse(detail string) *domain.Refusal {
	return domain.Refuse(domain.ErrUnauthenticated, "%s", detail)
}

// skew is how far the issuer's clock may be from this one.
const skew = time.Minute

// timely refuses tokens before and after their time. One without an end would be good for ever.
func timely(claims map[string]any, now time.Time) error {
	end, ends := claims["exp"].(float64)
	begin, begins := claims["nbf"].(float64)
	switch {
	case !ends:
		return refuse("the token has no end")
	case !now.Add(-skew).Before(time.Unix(int64(end), 0)):
		return refuse("the token has expired").WithFix("ask for another")
	case begins && now.Add(skew).Before(time.Unix(int64(begin), 0)):
		return refuse("the token is not valid yet").WithFix("compare the clocks of the issuer and of this server")
	}
	return nil
}
