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

// good is how long keys are believed without asking again: one that the issuer has withdrawn opens nothing after.
const good = 5 * time.Minute

// keys are those that the issuer publishes. They are safe for concurrent use.
type keys struct {
	at   string
	pace *pace
	now  func() time.Time

	mu   sync.Mutex
	set  *oidc.RemoteKeySet
	read time.Time // when set was begun, or was to be replaced last
}

func newKeys(at string, hear http.RoundTripper, now func() time.Time) *keys {
	k := &keys{at: at, pace: newPace(signing{hear}, now), now: now, read: now()}
	k.set = k.anew()
	return k
}

// anew are keys of which none has been read.
func (k *keys) anew() *oidc.RemoteKeySet {
	client := &http.Client{Timeout: patience, Transport: k.pace}
	return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), client), k.at)
}

// verify gives the payload of a token that is signed with one of the keys. The error is a refusal, or says that
// the issuer cannot be asked.
func (k *keys) verify(ctx context.Context, token string) ([]byte, error) {
	set, next := k.current()
	if next != nil {
		payload, err := next.VerifySignature(ctx, token)
		if !unheard(err) {
			k.replace(next)
			return payload, k.judged(err)
		} // what was known is believed while nothing else is to be had
	}
	payload, err := set.VerifySignature(ctx, token)
	return payload, k.judged(err)
}

// current are the keys that are known; and to one caller, when they have been for a while, those to read.
func (k *keys) current() (set, next *oidc.RemoteKeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); now.Sub(k.read) >= good {
		k.read, next = now, k.anew()
	}
	return k.set, next
}

func (k *keys) replace(set *oidc.RemoteKeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set = set
}

// judged is what an error means for the bearer.
func (k *keys) judged(err error) error {
	switch {
	case err == nil:
		return nil
	case unheard(err) && (!errors.Is(err, errOften) || k.pace.failure() != nil):
		return away(errors.Join(err, k.pace.failure()))
	}
	return errUntrusted // by the keys of just now, too
}

// failure is why the issuer's keys cannot be had, if it is so.
func (k *keys) failure() error {
	if err := k.pace.failure(); err != nil {
		return away(err)
	}
	return nil
}

// unheard tells whether the issuer was to be asked, and gave no answer.
func unheard(err error) bool {
	return err != nil && (strings.HasPrefix(err.Error(), "fetching keys") || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// holding verifies one token, and keeps what was wrong with it: the verifier makes words of that.
type holding struct {
	*keys
	refused error
}

// VerifySignature implements [oidc.KeySet].
func (h *holding) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := h.verify(ctx, token)
	h.refused = err
	return payload, err
}

var _ oidc.KeySet = (*holding)(nil)

// errUntrusted is a signature that is none of the issuer's.
var errUntrusted error = domain.Refuse(domain.ErrUnauthenticated, "the token is not signed with a key that its issuer publishes, or was changed").
	WithFix("ask the issuer for another; if it has just changed its keys, try again in ten seconds")

// signing passes on those of an issuer's keys that are for signatures and long enough.
type signing struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
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
		set.Keys = slices.DeleteFunc(set.Keys, func(key json.RawMessage) bool { return !signs(key) })
		if body, err = json.Marshal(set); err != nil {
			return nil, err
		}
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return answer, nil
}

// signs tells whether a key may sign tokens: one that is for encryption may not, nor an RSA key of less than 2,048 bits.
func signs(encoded json.RawMessage) bool {
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
