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

// Issuer verifies tokens. It is asked for its keys when the first token comes, when one is signed with a key that
// it has not published before, and now and then. It is safe for concurrent use.
type Issuer struct {
	cfg  Config
	hear http.RoundTripper // how it is asked

	turn     chan struct{} // whoever holds it asks the issuer what it says of itself
	failed   error         // the last answer, if it was none; with turn
	failedAt time.Time     // with turn
	known    atomic.Pointer[keySet]
}

// New makes an issuer of a configuration that [Config.Validate] accepts. It sends nothing yet.
func New(cfg Config) *Issuer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Issuer{cfg: cfg, hear: http.DefaultTransport, turn: make(chan struct{}, 1)}
}

// algorithms are those with which only the issuer can sign.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// Principal is whoever has the token. The error is a refusal that matches [domain.ErrUnauthenticated], or
// matches [domain.ErrUnavailable] if the issuer cannot be asked for its keys.
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
		ClientID: i.cfg.Audience, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true, // see timely
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

// skew is how far the issuer's clock may be from this one.
const skew = time.Minute

// checkTime refuses tokens before and after their time. One without an end would be good for ever.
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
