package oidc

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// errOften says that the issuer was asked as often as it may be. Tokens make this server ask it, and anybody
// can send one that looks as if it were signed with a new key.
var errOften = errors.New("the issuer was asked just now")

// How often the issuer may be asked for its keys: a few times at once, and then once in a while.
const (
	atOnce  = 4
	between = 10 * time.Second
)

// rateLimiter is a transport that asks no more often than that. It is safe for concurrent use.
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

// RoundTrip implements [http.RoundTripper].
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
