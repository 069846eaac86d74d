package oidc

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// errOften says that the limit of requests to the issuer is reached. Tokens cause such requests, and any client can
// send one that seems to be signed with a new key.
var errOften = errors.New("the issuer was asked just now")

// The limits of requests for the issuer's keys: a burst of a few, then one per interval.
const (
	atOnce  = 4
	between = 10 * time.Second
)

// rateLimiter is a transport with these limits. It is safe for concurrent use.
type rateLimiter struct {
	next  http.RoundTripper
	now   func() time.Time
	limit *rate.Limiter

	mu   sync.Mutex
	last error // why the last request failed
}

func newRateLimiter(next http.RoundTripper, now func() time.Time) *rateLimiter {
	return &rateLimiter{next: next, now: now, limit: rate.NewLimiter(rate.Every(between), atOnce)}
}

func (p *rateLimiter) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.limit.AllowN(p.now(), 1) {
		return nil, errOften
	}
	answer, err := p.next.RoundTrip(r)
	failed := err
	if err == nil {
		failed = status(answer)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = failed
	return answer, err
}

// failure is why the last request failed; nil if it succeeded.
func (p *rateLimiter) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}
