package oidc

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// errOften says that the issuer was asked as often as it may be. Tokens make this server ask it, and anybody
// can send one that looks as if it were signed with a new key.
var errOften = errors.New("the issuer was asked just now")

// How often the issuer may be asked: a few times at once, for what it says of itself and for its keys, and
// then once in a while.
const (
	atOnce  = 4
	between = 10 * time.Second
)

// pace is a transport that asks no more often than that. It is safe for concurrent use.
type pace struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	left int
	at   time.Time // when left grew last
}

func newPace(next http.RoundTripper, now func() time.Time) *pace {
	return &pace{next: next, now: now, left: atOnce, at: now()}
}

// RoundTrip implements [http.RoundTripper].
func (p *pace) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.take() {
		return nil, errOften
	}
	return p.next.RoundTrip(r)
}

func (p *pace) take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if passed := p.now().Sub(p.at); passed >= between {
		p.left = min(atOnce, p.left+int(passed/between))
		p.at = p.now()
	}
	if p.left == 0 {
		return false
	}
	p.left--
	return true
}
