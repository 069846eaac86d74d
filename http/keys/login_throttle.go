package keys

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/annals-kb/annals/http/serve"
)

// An address may send this many invalid keys at once, and then this many per second.
const (
	invalidBurst     = 20
	invalidPerSecond = 1
)

// loginThrottle slows down callers who guess keys. It counts invalid keys by address, and by address and key
// prefix. Behind a proxy all callers have the same address. There a caller who guesses at one key slows down that
// key alone, and only if the key was not valid on this server before. It is safe for concurrent use.
type loginThrottle struct {
	byAddress *serve.Limiter
	byKey     *serve.Limiter // by address and prefix

	mu    sync.Mutex
	valid map[string]struct{} // hashes of keys that were valid
}

func newLoginThrottle() *loginThrottle {
	return &loginThrottle{
		byAddress: serve.NewLimiter(invalidPerSecond, invalidBurst), byKey: serve.NewLimiter(invalidPerSecond, invalidBurst),
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
		wait = a.byKey.Wait(a.address+" "+a.prefix, a.now)
	} else {
		wait = a.byAddress.Wait(a.address, a.now)
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
	wait := a.byAddress.Take(a.address, a.now)
	if a.prefix != "" {
		wait = max(wait, a.byKey.Take(a.address+" "+a.prefix, a.now))
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
	if len(a.valid) >= serve.MostBuckets {
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
