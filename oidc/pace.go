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

// How often the issuer may be asked for its keys: a few times at once, and then once in a while.
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
	last error     // why the last answer was none
}

func newPace(next http.RoundTripper, now func() time.Time) *pace {
	return &pace{next: next, now: now, left: atOnce, at: now()}
}

// RoundTrip implements [http.RoundTripper].
func (p *pace) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.take() {
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

// failure is why the last answer was none; nil if it was one.
func (p *pace) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
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
