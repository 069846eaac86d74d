package serve

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/annals-kb/annals/domain"
)

// Limiter gives each name a token bucket of its own. It is safe for concurrent use.
type Limiter struct {
	rate    rate.Limit // requests per second; 0 for no limit
	Burst   int        // how many may come at once
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// MostBuckets is how many buckets a Limiter keeps at most.
const MostBuckets = 10_000

func NewLimiter(perSecond, burst float64) *Limiter {
	return &Limiter{rate: rate.Limit(perSecond), Burst: max(1, int(burst)), buckets: map[string]*rate.Limiter{}}
}

// Take takes a token out of a bucket. If there is none, it returns the seconds until there is one.
func (l *Limiter) Take(name string, now time.Time) (wait int) {
	if l.rate == 0 {
		return 0
	}
	reserved := l.bucket(name, now).ReserveN(now, 1)
	delay := reserved.DelayFrom(now)
	if delay > 0 {
		reserved.CancelAt(now)
	}
	return int(math.Ceil(delay.Seconds()))
}

// Wait returns the seconds until a bucket has a token; 0 if it has one now.
func (l *Limiter) Wait(name string, now time.Time) (wait int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.buckets[name]
	if bucket == nil {
		return 0
	}
	return int(math.Ceil(max(0, 1-bucket.TokensAt(now)) / float64(l.rate)))
}

func (l *Limiter) bucket(name string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.buckets[name]
	if bucket == nil {
		l.makeRoom(now)
		bucket = rate.NewLimiter(l.rate, l.Burst)
		l.buckets[name] = bucket
	}
	return bucket
}

// makeRoom drops full buckets when there are many, and all buckets if that is not enough.
func (l *Limiter) makeRoom(now time.Time) {
	if len(l.buckets) < MostBuckets {
		return
	}
	for name, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.Burst) {
			delete(l.buckets, name)
		}
	}
	if len(l.buckets) > MostBuckets/2 { // otherwise each new name would scan all buckets
		clear(l.buckets)
	}
}

// bucketOf names the bucket of a caller: that of the key, or that of the subject of a token. The claimed name of an
// unauthenticated caller does not count, since each name would get a new bucket.
func bucketOf(p domain.Principal) string {
	switch {
	case p.Authentication == "open":
		return p.Tenant
	case p.HasKey():
		return p.Authentication
	}
	return p.Authentication + " " + string(p.Subject)
}

// Check refuses callers who exceed the rate.
func (l *Limiter) Check(by domain.Principal, now time.Time) error {
	if wait := l.Take(bucketOf(by), now); wait > 0 {
		return ComeAgain(wait, "at most %g requests per second", float64(l.rate))
	}
	return nil
}

// SubjectOf names a caller, whichever key they use.
func SubjectOf(p domain.Principal) string { return p.Tenant + " " + string(p.Subject) }
