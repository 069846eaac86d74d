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

	"github.com/annals-kb/annals/domain"
)

// keyLifetime is how long keys are believed without asking again: one that the issuer has withdrawn opens nothing
// after.
const keyLifetime = 5 * time.Minute

// keySet are those that the issuer publishes. They are safe for concurrent use.
type keySet struct {
	at   string
	pace *rateLimiter
	now  func() time.Time

	mu   sync.Mutex
	set  *oidc.RemoteKeySet
	read time.Time // when set was begun, or was to be replaced last
}

func newKeySet(at string, hear http.RoundTripper, now func() time.Time) *keySet {
	k := &keySet{at: at, pace: newRateLimiter(signingKeys{hear}, now), now: now, read: now()}
	k.set = k.fetch()
	return k
}

// fetch are keys of which none has been read.
func (k *keySet) fetch() *oidc.RemoteKeySet {
	client := &http.Client{Timeout: patience, Transport: k.pace}
	return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), client), k.at)
}

// verify gives the payload of a token that is signed with one of the keys. The error is a refusal, or says that
// the issuer cannot be asked.
func (k *keySet) verify(ctx context.Context, token string) ([]byte, error) {
	set, next := k.current()
	if next != nil {
		payload, err := next.VerifySignature(ctx, token)
		if !isUnanswered(err) {
			k.replace(next)
			return payload, k.refusal(err)
		} // what was known is believed while nothing else is to be had
	}
	payload, err := set.VerifySignature(ctx, token)
	return payload, k.refusal(err)
}

// current are the keys that are known; and to one caller, when they have been for a while, those to read.
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

// refusal is what an error means for the bearer.
func (k *keySet) refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case isUnanswered(err) && (!errors.Is(err, errOften) || k.pace.failure() != nil):
		return errUnavailable(errors.Join(err, k.pace.failure()))
	}
	return errUntrusted // by the keys of just now, too
}

// failure is why the issuer's keys cannot be had, if it is so.
func (k *keySet) failure() error {
	if err := k.pace.failure(); err != nil {
		return errUnavailable(err)
	}
	return nil
}

// isUnanswered tells whether the issuer was to be asked, and gave no answer.
func isUnanswered(err error) bool {
	return err != nil && (strings.HasPrefix(err.Error(), "fetching keys") || errors.Is(err,
		context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// capturingKeySet verifies one token, and keeps what was wrong with it: the verifier makes words of that.
type capturingKeySet struct {
	*keySet
	refused error
}

// VerifySignature implements [oidc.KeySet].
func (h *capturingKeySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := h.verify(ctx, token)
	h.refused = err
	return payload, err
}

var _ oidc.KeySet = (*capturingKeySet)(nil)

// errUntrusted is a signature that is none of the issuer's.
var errUntrusted error = domain.Refuse(domain.ErrUnauthenticated,
	"the token is not signed with a key that its issuer publishes, or was changed").
	WithFix("ask the issuer for another; if it has just changed its keys, try again in ten seconds")

// signingKeys passes on those of an issuer's keys that are for signatures and long enough.
type signingKeys struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
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
	if json.Unmarshal(body, &set) == nil {
		set.Keys = slices.DeleteFunc(set.Keys, func(key json.RawMessage) bool { return !isSigningKey(key) })
		if body, err = json.Marshal(set); err != nil {
			return nil, err
		}
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return answer, nil
}

// isSigningKey tells whether a key may sign tokens: one that is for encryption may not, nor an RSA key of less than
// 2,048 bits.
func isSigningKey(encoded json.RawMessage) bool {
	const shortest = 2048
	var key struct{ Kty, Use, N string }
	if json.Unmarshal(encoded, &key) != nil || key.Use != "" && key.Use != "sig" {
		return false
	}
	modulus, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(key.N, "="))
	return key.Kty != "RSA" || err == nil && new(big.Int).SetBytes(modulus).BitLen() >= shortest
}

// status is an answer that has no keys in it.
func status(r *http.Response) error {
	if r.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the issuer answered with %s", r.Status)
}
