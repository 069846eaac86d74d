package oidc

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/annals-kb/annals/domain"
)

// Config names a trusted issuer, and the meaning of its claims.
type Config struct {
	Issuer   string // as in the tokens; its keys are found below /.well-known/openid-configuration
	Audience string // the required audience of tokens
	Tenant   string // the tenant of the issuer's users
	Claims   Claims
	// Now is the source of the time; default: time.Now.
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

// Issuer verifies tokens. It requests the issuer's keys for the first token, for a token with an unknown key, and at
// intervals. It is safe for concurrent use.
type Issuer struct {
	cfg  Config
	hear http.RoundTripper // transport of requests to the issuer

	turn     chan struct{} // its holder may request the issuer's configuration
	failed   error         // the error of the last request; guarded by turn
	failedAt time.Time     // guarded by turn
	known    atomic.Pointer[keySet]
}

// New makes an issuer of a configuration that [Config.Validate] accepts. It sends nothing yet.
func New(cfg Config) *Issuer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Issuer{cfg: cfg, hear: http.DefaultTransport, turn: make(chan struct{}, 1)}
}

// algorithms are the signature algorithms for which only the issuer has the key.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// Principal is the bearer of a token. The error is a refusal that matches [domain.ErrUnauthenticated], or matches
// [domain.ErrUnavailable] if the issuer's keys are unavailable.
func (i *Issuer) Principal(ctx context.Context, token string) (domain.Principal, error) {
	if err := i.checkClaims(token); err != nil {
		return domain.Principal{}, err
	}
	known, err := i.ready(ctx)
	if err != nil {
		return domain.Principal{}, err
	}
	held := &capturingKeySet{keySet: known}
	verified, err := oidc.NewVerifier(i.cfg.Issuer, held, &oidc.Config{
		ClientID: i.cfg.Audience, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true, // see checkTime
	}).Verify(ctx, token)
	if err != nil {
		return domain.Principal{}, cmp.Or(held.refused, errUntrusted)
	}
	claims := map[string]any{}
	if err := verified.Claims(&claims); err != nil {
		return domain.Principal{}, errUntrusted
	}
	if err := checkTime(claims, i.cfg.Now()); err != nil {
		return domain.Principal{}, err
	}
	p, err := i.cfg.Claims.principal(claims)
	p.Tenant, p.Authentication = i.cfg.Tenant, "jwt:"+i.cfg.Issuer
	return p, err
}

func refuse(detail string) *domain.Refusal {
	return domain.Refuse(domain.ErrUnauthenticated, "%s", detail)
}

// skew is the tolerated difference between the issuer's clock and this one.
const skew = time.Minute

// checkTime refuses tokens outside of their validity. A token without an expiry would be valid for ever.
func checkTime(claims map[string]any, now time.Time) error {
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
