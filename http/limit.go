package http

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
)

// limiter gives every caller a bucket of requests that fills at a steady rate. It is safe for
// concurrent use.
type limiter struct {
	rate    float64 // per second; 0 for no limit
	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newLimiter(rate float64) *limiter {
	return &limiter{rate: rate, buckets: map[string]bucket{}}
}

// burst is how many requests may come at once.
func (l *limiter) burst() float64 { return math.Max(1, 2*l.rate) }

// tooFast is a refusal that says after how many seconds to come again.
type tooFast struct {
	error
	wait string
}

// Unwrap gives the refusal.
func (e tooFast) Unwrap() error { return e.error }

// take refuses if the caller has nothing left.
func (l *limiter) take(by domain.Principal, now time.Time) error {
	if l.rate == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, met := l.buckets[caller(by)]
	if !met {
		l.forget(now)
		b = bucket{left: l.burst(), at: now}
	}
	b.left = math.Min(l.burst(), b.left+now.Sub(b.at).Seconds()*l.rate)
	b.at = now
	if b.left < 1 {
		l.buckets[caller(by)] = b
		wait := strconv.Itoa(int(math.Ceil((1 - b.left) / l.rate)))
		return tooFast{domain.Refuse(errRate, "at most %g requests per second", l.rate).WithFix("wait for %s s", wait), wait}
	}
	b.left--
	l.buckets[caller(by)] = b
	return nil
}

// caller is whose bucket counts. What an unauthenticated caller says about itself is not asked:
// it would be a new bucket for every name.
func caller(p domain.Principal) string {
	if p.Authentication == "open" {
		return p.Tenant
	}
	return p.Tenant + " " + string(p.Subject)
}

// forget drops buckets that are full again, once there are many.
func (l *limiter) forget(now time.Time) {
	const many = 10_000
	if len(l.buckets) < many {
		return
	}
	for name, b := range l.buckets {
		if b.left+now.Sub(b.at).Seconds()*l.rate >= l.burst() {
			delete(l.buckets, name)
		}
	}
}
