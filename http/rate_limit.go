package http

import (
	"context"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// limiter gives each name a token bucket of its own. It is safe for concurrent use.
type limiter struct {
	rate    rate.Limit // requests per second; 0 for no limit
	burst   int        // how many may come at once
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// maxBuckets is how many buckets a limiter keeps at most.
const maxBuckets = 10_000

func newLimiter(perSecond, burst float64) *limiter {
	return &limiter{rate: rate.Limit(perSecond), burst: max(1, int(burst)), buckets: map[string]*rate.Limiter{}}
}

// take takes a token out of a bucket. If there is none, it returns the seconds until there is one.
func (l *limiter) take(name string, now time.Time) (wait int) {
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

// empty returns the seconds until a bucket has a token; 0 if it has one now.
func (l *limiter) empty(name string, now time.Time) (wait int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.buckets[name]
	if bucket == nil {
		return 0
	}
	return int(math.Ceil(max(0, 1-bucket.TokensAt(now)) / float64(l.rate)))
}

func (l *limiter) bucket(name string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.buckets[name]
	if bucket == nil {
		l.makeRoom(now)
		bucket = rate.NewLimiter(l.rate, l.burst)
		l.buckets[name] = bucket
	}
	return bucket
}

// makeRoom drops full buckets when there are many, and all buckets if that is not enough.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for name, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, name)
		}
	}
	if len(l.buckets) > maxBuckets/2 { // otherwise each new name would scan all buckets
		clear(l.buckets)
	}
}

// checkRate refuses callers who exceed their rate.
func (s *Server) checkRate(by domain.Principal, now time.Time) error {
	if wait := s.limiter.take(bucketOf(by), now); wait > 0 {
		return serve.ComeAgain(wait, "at most %g requests per second", float64(s.limiter.rate))
	}
	return nil
}

// bucketOf names the bucket of a caller: that of the key, or that of the subject of a token. The claimed name of an
// unauthenticated caller does not count, since each name would get a new bucket.
func bucketOf(p domain.Principal) string {
	switch {
	case p.Authentication == "open":
		return p.Tenant
	case strings.HasPrefix(p.Authentication, "key:"):
		return p.Authentication
	}
	return p.Authentication + " " + string(p.Subject)
}

const (
	mostStreams = 1000 // at the same time
	mostOfOne   = 20   // of one caller
	mostReading = 4    // streams that read the log for themselves at the same time
)

// feeds are the open streams, which are limited. It is safe for concurrent use.
type feeds struct {
	reading chan struct{} // holds a token for each stream that reads for itself

	mu    sync.Mutex
	open  int
	of    map[string]int   // by caller
	tails map[string]*tail // by tenant
}

func newFeeds() *feeds {
	return &feeds{reading: make(chan struct{}, mostReading), of: map[string]int{}, tails: map[string]*tail{}}
}

// join counts a stream, and starts the tail of its tenant if there is none. Call leave when done.
func (f *feeds) join(cfg Config, c *serve.Call) (t *tail, leave func(), err error) {
	tenant, caller := c.Principal.Tenant, callerOf(c.Principal)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.of[caller] >= mostOfOne:
		return nil, nil, domain.Refuse(serve.ErrRate, "%s follows the log %d times already", c.Principal.Subject, mostOfOne).
			WithFix("end a stream before you begin another")
	case f.open >= mostStreams:
		return nil, nil, domain.Refuse(domain.ErrBusy, "%d callers follow the log already", mostStreams)
	}
	if t = f.tails[tenant]; t == nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(c.Request.Context()))
		t = &tail{}
		t.publish(&tailPage{after: math.MaxInt64}) // until it has read
		var running sync.WaitGroup
		running.Go(func() { t.run(ctx, cfg, tenant) })
		t.end = func() { cancel(); running.Wait() }
		f.tails[tenant] = t
	}
	f.open++
	f.of[caller]++
	t.streams++
	return t, func() {
		f.mu.Lock()
		f.open--
		if f.of[caller]--; f.of[caller] == 0 {
			delete(f.of, caller)
		}
		t.streams--
		last := t.streams == 0
		if last {
			delete(f.tails, tenant)
		}
		f.mu.Unlock()
		if last {
			t.end()
		}
	}, nil
}

// callerOf names a caller, whichever key they use.
func callerOf(p domain.Principal) string { return p.Tenant + " " + string(p.Subject) }

// An address may send this many invalid keys at once, and then this many per second.
const (
	invalidBurst     = 20
	invalidPerSecond = 1
)

// loginThrottle slows down callers who guess keys. It counts invalid keys by address, and by address and key
// prefix. Behind a proxy all callers have the same address. There a caller who guesses at one key slows down that
// key alone, and only if the key was not valid on this server before. It is safe for concurrent use.
type loginThrottle struct {
	byAddress *limiter
	byKey     *limiter // by address and prefix

	mu    sync.Mutex
	valid map[string]struct{} // hashes of keys that were valid
}

func newLoginThrottle() *loginThrottle {
	return &loginThrottle{
		byAddress: newLimiter(invalidPerSecond, invalidBurst), byKey: newLimiter(invalidPerSecond, invalidBurst),
		valid: map[string]struct{}{},
	}
}

// attempt is a key that may be invalid.
type attempt struct {
	*loginThrottle
	address string
	prefix  string // empty if the key has not the form of keys
	hash    string
	now     time.Time
}

func (t *loginThrottle) attempt(r *http.Request, key string, now time.Time) attempt {
	return attempt{t, addressOf(r), PrefixOf(key), HashOfKey(key), now}
}

// allow refuses to check a key after too many invalid keys.
func (a attempt) allow() error {
	wait := 0
	if a.prefix != "" {
		wait = a.byKey.empty(a.address+" "+a.prefix, a.now)
	} else {
		wait = a.byAddress.empty(a.address, a.now)
	}
	if wait > 0 && !a.wasValid() {
		return tooManyInvalid(wait)
	}
	return nil
}

// failed counts an invalid key. It returns err or a refusal with the time to wait. Its answer does not depend on
// whether a key with this prefix exists.
func (a attempt) failed(err error) error {
	a.mu.Lock()
	delete(a.valid, a.hash)
	a.mu.Unlock()
	wait := a.byAddress.take(a.address, a.now)
	if a.prefix != "" {
		wait = max(wait, a.byKey.take(a.address+" "+a.prefix, a.now))
	}
	if wait > 0 {
		return tooManyInvalid(wait)
	}
	return err
}

func tooManyInvalid(wait int) error {
	return serve.ComeAgain(wait, "too many invalid keys came from this address")
}

func (a attempt) wasValid() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, valid := a.valid[a.hash]
	return valid
}

// succeeded notes that the key is valid.
func (a attempt) succeeded() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.valid) >= maxBuckets {
		clear(a.valid)
	}
	a.valid[a.hash] = struct{}{}
}

// addressOf is the address of the caller. Of an IPv6 address it is the network, since a host may use every address of
// it.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap().WithZone(""); address.Is6() {
		const network = 64
		return netip.PrefixFrom(address, network).Masked().String()
	}
	return address.String()
}
