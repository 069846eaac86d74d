package http

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// So many keys that open nothing may come from an address at once, and so many in a second after.
const (
	wrongAtOnce  = 20
	wrongASecond = 1
)

// guesses slow down whoever tries keys that open nothing. They are counted by address, and by address and
// prefix. Behind a proxy, where everybody has the same address, nobody is held up by what another tries: whoever
// guesses at a key holds up that key alone, and only if it has not opened this server before. It is safe for
// concurrent use.
type guesses struct {
	anywhere *limiter // by address
	oneKey   *limiter // by address and prefix

	mu     sync.Mutex
	opened map[string]struct{} // hashes of keys that did
}

func newGuesses() *guesses {
	return &guesses{
		anywhere: newLimiter(wrongASecond, wrongAtOnce), oneKey: newLimiter(wrongASecond, wrongAtOnce),
		opened: map[string]struct{}{},
	}
}

// guess is a key that may be wrong.
type guess struct {
	*guesses
	from   string // address
	prefix string // empty if it is not of the form that keys have
	hash   string
	now    time.Time
}

// guessOf is a key that came with a request.
func (g *guesses) guessOf(r *http.Request, key string, now time.Time) guess {
	return guess{g, addressOf(r), PrefixOf(key), HashOfKey(key), now}
}

// try refuses to look whether the key is right if too many were wrong.
func (g guess) try() error {
	wait := 0
	if g.prefix != "" {
		wait = g.oneKey.empty(g.from+" "+g.prefix, g.now)
	} else {
		wait = g.anywhere.empty(g.from, g.now)
	}
	if wait > 0 && !g.right() {
		return tooManyWrong(wait)
	}
	return nil
}

// failed counts a wrong key. The error is err, or says to come again later: whether there is a key of this prefix
// makes no difference.
func (g guess) failed(err error) error {
	g.mu.Lock()
	delete(g.opened, g.hash)
	g.mu.Unlock()
	wait := g.anywhere.take(g.from, g.now)
	if g.prefix != "" {
		wait = max(wait, g.oneKey.take(g.from+" "+g.prefix, g.now))
	}
	if wait > 0 {
		return tooManyWrong(wait)
	}
	return err
}

func tooManyWrong(wait int) error {
	return comeAgain(wait, "too many keys that open nothing came from there")
}

// right tells whether the key has opened this server before.
func (g guess) right() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, opened := g.opened[g.hash]
	return opened
}

// open notes that it did.
func (g guess) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.opened) >= manyBuckets {
		clear(g.opened)
	}
	g.opened[g.hash] = struct{}{}
}

// addressOf is where a request comes from: of an IPv6 address the network, since whoever has one has all of it.
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
