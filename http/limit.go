package http

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
)

// limiter gives everybody a bucket of requests that fills at a steady rate. It is safe for concurrent use.
type limiter struct {
	rate    float64 // per second; 0 for no limit
	burst   float64 // how many may come at once
	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

// manyBuckets is how many are kept at most.
const manyBuckets = 10_000

func newLimiter(rate, burst float64) *limiter {
	return &limiter{rate: rate, burst: math.Max(1, burst), buckets: map[string]bucket{}}
}

// tooFast is a refusal that says after how many seconds to come again.
type tooFast struct {
	error
	wait string
}

// Unwrap gives the refusal.
func (e tooFast) Unwrap() error { return e.error }

// take takes one out of a bucket. If there is none left, it tells how many seconds it takes to get one.
func (l *limiter) take(name string, now time.Time) (wait int) {
	if l.rate == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(name, now)
	if wait = l.wait(b); wait == 0 {
		b.left--
	}
	l.buckets[name] = b
	return wait
}

// empty tells how many seconds it takes until there is one in a bucket again; 0 if there is.
func (l *limiter) empty(name string, now time.Time) (wait int) {
	if l.rate == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, met := l.buckets[name]; !met {
		return 0
	}
	return l.wait(l.bucket(name, now))
}

func (l *limiter) wait(b bucket) int {
	if b.left >= 1 {
		return 0
	}
	return int(math.Ceil((1 - b.left) / l.rate))
}

// bucket is as full as it is by now.
func (l *limiter) bucket(name string, now time.Time) bucket {
	b, met := l.buckets[name]
	if !met {
		l.forget(now)
		return bucket{left: l.burst, at: now}
	}
	return bucket{left: l.filled(b, now), at: now}
}

// filled is how much is left in b by now. A clock may go back.
func (l *limiter) filled(b bucket, now time.Time) float64 {
	return math.Min(l.burst, b.left+math.Max(0, now.Sub(b.at).Seconds())*l.rate)
}

// forget drops buckets that are full again, once there are many; and all of them, if that is not enough.
func (l *limiter) forget(now time.Time) {
	if len(l.buckets) < manyBuckets {
		return
	}
	for name, b := range l.buckets {
		if l.filled(b, now) >= l.burst {
			delete(l.buckets, name)
		}
	}
	if len(l.buckets) > manyBuckets/2 { // or every newcomer would look through them
		clear(l.buckets)
	}
}

// withinRate refuses a caller who has no request left.
func (s *Server) withinRate(by domain.Principal, now time.Time) error {
	if wait := s.limiter.take(caller(by), now); wait > 0 {
		return comeAgain(wait, "at most %g requests per second", s.limiter.rate)
	}
	return nil
}

func comeAgain(wait int, format string, args ...any) error {
	seconds := strconv.Itoa(wait)
	return tooFast{domain.Refuse(errRate, format, args...).WithFix("wait for %s s", seconds), seconds}
}

// caller is whose bucket counts: a key's, or that of whom a token describes. What an unauthenticated caller says
// about itself is not asked: it would be a new bucket for every name.
func caller(p domain.Principal) string {
	switch {
	case p.Authentication == "open":
		return p.Tenant
	case strings.HasPrefix(p.Authentication, "key:"):
		return p.Authentication
	}
	return p.Authentication + " " + string(p.Subject)
}
