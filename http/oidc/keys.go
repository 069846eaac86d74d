package oidc

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/annals-kb/annals/domain"
)

// keyLifetime is how long keys are trusted without another request. After that, a key that the issuer has withdrawn
// is no longer valid.
const keyLifetime = 5 * time.Minute

// keySet are the keys that the issuer publishes. It is safe for concurrent use.
type keySet struct {
	at string
	// What else the issuer publishes about itself.
	endpoint   oauth2.Endpoint
	endSession string

	pace *rateLimiter
	now  func() time.Time

	mu   sync.Mutex
	set  *oidc.RemoteKeySet
	read time.Time // when set was made, or its replacement last began
}

func newKeySet(at string, hear http.RoundTripper, now func() time.Time) *keySet {
	k := &keySet{at: at, pace: newRateLimiter(signingKeys{withoutPages{hear}}, now), now: now, read: now()}
	k.set = k.fetch()
	return k
}

// fetch is a new key set without keys.
func (k *keySet) fetch() *oidc.RemoteKeySet {
	client := &http.Client{Timeout: patience, Transport: k.pace}
	return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), client), k.at)
}

// verify returns the payload of a token that one of the keys has signed. The error is a refusal, or says that the
// issuer does not answer.
func (k *keySet) verify(ctx context.Context, token string) ([]byte, error) {
	set, next := k.current()
	if next != nil {
		payload, err := next.VerifySignature(ctx, token)
		if !isUnanswered(err) {
			k.replace(next)
			return payload, k.refusal(err)
		} // keep trusting the known keys while the new ones are unavailable
	}
	payload, err := set.VerifySignature(ctx, token)
	return payload, k.refusal(err)
}

// current returns the known keys. If they are old, it also returns a new set to one caller, which must read it.
func (k *keySet) current() (set, next *oidc.RemoteKeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); now.Sub(k.read) >= keyLifetime {
		k.read, next = now, k.fetch()
	}
	return k.set, next
}

func (k *keySet) replace(set *oidc.RemoteKeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set = set
}

// refusal is the error for the bearer.
func (k *keySet) refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case isUnanswered(err) && (!errors.Is(err, errOften) || k.pace.failure() != nil):
		return errUnavailable(errors.Join(err, k.pace.failure()))
	}
	return errUntrusted // also by the newest keys
}

// failure is why the issuer's keys are unavailable; nil if they are available.
func (k *keySet) failure() error {
	if err := k.pace.failure(); err != nil {
		return errUnavailable(err)
	}
	return nil
}

// isUnanswered tells whether a request to the issuer got no answer.
func isUnanswered(err error) bool {
	return err != nil && (strings.HasPrefix(err.Error(), "fetching keys") || errors.Is(err,
		context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// capturingKeySet verifies one token and keeps the error, which the verifier would only quote.
type capturingKeySet struct {
	*keySet
	refused error
}

func (h *capturingKeySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := h.verify(ctx, token)
	h.refused = err
	return payload, err
}

var _ oidc.KeySet = (*capturingKeySet)(nil)

// errUntrusted says that the issuer did not sign the token.
var errUntrusted error = domain.Refuse(domain.ErrUnauthenticated,
	"the token is not signed with a key that its issuer publishes, or was changed").
	WithFix("ask the issuer for another; if it has just changed its keys, try again in ten seconds")

// signingKeys passes on only the issuer's keys that are for signatures and long enough.
type signingKeys struct{ next http.RoundTripper }

func (s signingKeys) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err != nil || status(answer) != nil {
		return answer, err
	}
	const most = 1 << 20
	body, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(body, &set) != nil {
		body = nil // errors would quote it
	} else {
		set.Keys = slices.DeleteFunc(set.Keys, func(key json.RawMessage) bool { return !isSigningKey(key) })
		if body, err = json.Marshal(set); err != nil {
			return nil, err
		}
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return answer, nil
}

// isSigningKey tells whether a key may sign tokens. Keys for encryption may not, nor RSA keys of less than 2,048
// bits.
func isSigningKey(encoded json.RawMessage) bool {
	const shortest = 2048
	var key struct{ Kty, Use, N string }
	if json.Unmarshal(encoded, &key) != nil || key.Use != "" && key.Use != "sig" {
		return false
	}
	modulus, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(key.N, "="))
	return key.Kty != "RSA" || err == nil && new(big.Int).SetBytes(modulus).BitLen() >= shortest
}

// withoutPages drops the bodies of answers that are no success, which errors would quote: a page of a proxy may have
// anything.
type withoutPages struct{ next http.RoundTripper }

func (w withoutPages) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodGet && status(answer) != nil {
		err = answer.Body.Close()
		answer.Body, answer.ContentLength = http.NoBody, 0
	}
	return answer, err
}

// status reports an answer without keys.
func status(r *http.Response) error {
	if r.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the issuer answered with %s", r.Status)
}
