package oidc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
)

// hours are a clock that is put forward.
type hours struct{ since atomic.Int64 }

func (h *hours) now() time.Time       { return noon.Add(time.Duration(h.since.Load())) }
func (h *hours) pass(d time.Duration) { h.since.Add(int64(d)) }

// timed is an issuer whose time passes when the test says so, with a key of the provider's.
func (p *provider) timed(t *testing.T) (*Issuer, *hours, signer) {
	t.Helper()
	issuer, clock := p.issuer(t), &hours{}
	issuer.cfg.Now = clock.now
	key, public := edKey(t, "k")
	p.publish(public)
	return issuer, clock, key
}

func TestAnIssuerThatIsBackOpensAtOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	issuer, clock, key := p.timed(t)
	p.is(true)
	for range 10 { // however many ask meanwhile
		_, err := issuer.Principal(t.Context(), key.token(t, p.claims(nil)))
		if refusal, told := errors.AsType[*domain.Refusal](err); !errors.Is(err,
			domain.ErrUnavailable) || !told || refusal.Detail == "" {
			t.Errorf("while it is down: %v", err)
		}
	}
	if err := issuer.Ready(t.Context()); !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("it is ready: %v", err)
	}
	p.is(false)
	clock.pass(pause)
	if _, err := issuer.Principal(t.Context(), key.token(t, p.claims(nil))); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if err := issuer.Ready(t.Context()); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
}

// page is an issuer behind a proxy that answers with pages of its own, and with which status: for its configuration, its
// keys or both.
type page struct {
	next   http.RoundTripper
	status int
	only   string
	text   string
}

func (p page) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := p.next.RoundTrip(r)
	if err == nil && strings.Contains(r.URL.Path, p.only) {
		answer.StatusCode, answer.Status = p.status, http.StatusText(p.status)
		answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(p.text)), int64(len(p.text))
	}
	return answer, err
}

func TestAPageOfAnotherIsNotQuoted(t *testing.T) {
	t.Parallel()
	for _, only := range []string{"openid-configuration", "keys", ""} {
		for _, status := range []int{http.StatusOK, http.StatusBadGateway, http.StatusNotFound} {
			for _, text := range []string{"<p>db01 s3cret</p>", `{"message":"s3cret"}`, `{"keys":"s3cret"}`, `"s3cret"`, `{"keys":[5,"s3cret"]}`} {
				p := newProvider(t)
				issuer, _, key := p.timed(t)
				issuer.hear = page{issuer.hear, status, only, text}
				_, err := issuer.Principal(t.Context(), key.token(t, p.claims(nil)))
				if err == nil || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%s, %d, %s: %v", only, status, text, err)
				}
			}
		}
	}
}

// silent is an issuer that takes a request, and then its time.
type silent struct {
	asked atomic.Int64
	begun chan struct{} // closed by the first request
	end   chan struct{}
}

func (s *silent) RoundTrip(*http.Request) (*http.Response, error) {
	if s.asked.Add(1) == 1 {
		close(s.begun)
	}
	<-s.end
	return nil, errors.New("no answer")
}

func TestCallersWaitForASlowIssuerTogether(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	issuer, _, key := p.timed(t)
	slow := &silent{begun: make(chan struct{}), end: make(chan struct{})}
	issuer.hear = slow
	token := key.token(t, p.claims(nil))
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if _, err := issuer.Principal(t.Context(), token); !errors.Is(err, domain.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
	<-slow.begun
	impatient, leave := context.WithCancel(t.Context())
	leave()
	if _, err := issuer.Principal(impatient, token); !errors.Is(err, context.Canceled) {
		t.Errorf("one who leaves: %v", err)
	}
	close(slow.end)
	waiting.Wait()
	if got := slow.asked.Load(); got != 1 {
		t.Errorf("the issuer was asked %d times for nine callers", got)
	}
}

func TestAWithdrawnKeyOpensNothingSoonAfter(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	issuer, clock, key := p.timed(t)
	token := key.token(t, p.claims(nil))
	opens := func(what string, want bool) {
		t.Helper()
		if _, err := issuer.Principal(t.Context(), token); (err == nil) != want || err != nil && !errors.Is(err,
			domain.ErrUnauthenticated) {
			t.Errorf("%s: opens: got %v, want %v", what, err, want)
		}
	}
	opens("at first", true)
	p.is(true)
	clock.pass(keyLifetime)
	opens("while the issuer is down", true)
	if err := issuer.Ready(t.Context()); !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("nobody says that it is down: %v", err)
	}
	p.is(false)
	p.withdraw()
	clock.pass(keyLifetime)
	opens("withdrawn", false)
}

func TestARefusalSaysWhatIsWrongWithTheToken(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	issuer, _, key := p.timed(t)
	shared := signer{"HS256", "k", func([]byte) []byte { return []byte("x") }}
	forger, _ := edKey(t, "k")
	for word, token := range map[string]string{
		"read":     "a.b.c",
		"sign":     shared.token(t, p.claims(nil)),
		"issuer":   key.token(t, p.claims(map[string]any{"iss": p.URL + "/"})),
		"audience": key.token(t, p.claims(map[string]any{"aud": []string{"other", "another"}})),
		"changed":  forger.token(t, p.claims(nil)),
		"expired":  key.token(t, p.claims(map[string]any{"exp": 1})),
	} {
		_, err := issuer.Principal(t.Context(), token)
		refusal, is := errors.AsType[*domain.Refusal](err)
		if !is || !strings.Contains(refusal.Detail, word) || refusal.Fix == "" || !errors.Is(err, domain.ErrUnauthenticated) {
			t.Errorf("%s: got %+v", word, err)
		}
	}
	if _, err := issuer.Principal(t.Context(),
		key.token(t, p.claims(map[string]any{"aud": []string{"other", "annals"}}))); err != nil {
		t.Errorf("one of several audiences: %v", err)
	}
}
