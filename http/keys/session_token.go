package keys

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// A session token stands for a key or an ID token, for a browser that must not keep it in a form that can be read. It
// is "session." and base64url of a sealed [sessionToken]. A caller sends it as a key.
const sessionScheme = "session."

// sessionLasts is how long a session is valid.
const sessionLasts = 12 * time.Hour

// SessionKeyBytes is the length of Config.SessionKey, for AES-256.
const SessionKeyBytes = 32

// sessionToken is the content of a session token. It holds no key, and authenticates only while the key or the ID
// token is valid.
type sessionToken struct {
	Prefix  string    `json:"prefix,omitempty"` // of the key; empty for the root key
	Hash    string    `json:"hash,omitempty"`   // of the key
	Token   string    `json:"token,omitempty"`  // an ID token, instead of a key
	Expires time.Time `json:"expires"`
}

// OpenSession makes a session token for the holder of a key, and tells when it expires. It authenticates the key as the
// API does, and counts a wrong key of r's address. The error is a refusal for the caller.
func (s Identities) OpenSession(r *http.Request, key string) (token string, expires time.Time, err error) {
	key = strings.TrimSpace(key)
	open, err := s.isOpen(r.Context())
	switch {
	case err != nil:
		return "", expires, err
	case open:
		return "", expires, domain.Refuse(domain.ErrConflict, "the server is in no-auth mode: it needs no session")
	case s.sealer == nil:
		return "", expires, domain.Refuse(domain.ErrNotFound, "this server opens no sessions")
	case strings.HasPrefix(key, sessionScheme) || s.isIssuedToken(key):
		return "", expires, domain.Refuse(domain.ErrUnauthenticated, "only a key opens a session, a token does not").
			WithFix("log in with a key of this server")
	}
	if _, _, err := s.checkKey(r, key); err != nil {
		return "", expires, err
	}
	holder := sessionToken{Hash: HashOfKey(key), Expires: s.Now().Add(sessionLasts)}
	if !s.isRoot(holder.Hash) {
		holder.Prefix = PrefixOf(key)
	}
	return s.seal(holder)
}

// largestToken is the length of the longest ID token of a session. Browsers keep cookies of up to 4 KiB.
const largestToken = 2800

// OpenLogin makes a session token for the bearer of an ID token, which ends when the ID token does, at the latest. The
// API verifies the ID token with each request. The error is a refusal for the caller.
func (s Identities) OpenLogin(
	ctx context.Context, idToken string, ends time.Time,
) (token string, expires time.Time, err error) {
	if s.Logins == nil || s.sealer == nil {
		return "", expires, domain.Refuse(domain.ErrNotFound, "this server opens no sessions for tokens")
	}
	if len(idToken) > largestToken {
		return "", expires, domain.Refuse(domain.ErrUnauthenticated, "the ID token is too long for a cookie").
			WithFix("let the provider leave out claims, such as groups")
	}
	if _, err := s.fromToken(ctx, s.Logins, idToken); err != nil {
		return "", expires, err
	}
	if expires = s.Now().Add(sessionLasts); ends.Before(expires) {
		expires = ends
	}
	return s.seal(sessionToken{Token: idToken, Expires: expires})
}

// seal makes a session token, which expires at a whole second.
func (s Identities) seal(holder sessionToken) (token string, expires time.Time, err error) {
	holder.Expires = holder.Expires.UTC().Truncate(time.Second)
	content, err := json.Marshal(holder)
	if err != nil {
		return "", expires, err
	}
	token = sessionScheme + base64.RawURLEncoding.EncodeToString(s.sealer.Seal(nil, nil, content, nil))
	return token, holder.Expires, nil
}

// readSession reads a session token. A token is not guessable, so a wrong one does not count as a wrong key.
func (s Identities) readSession(token string) (sessionToken, error) {
	var read sessionToken
	if s.sealer == nil {
		return read, sessionEnded()
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(token, sessionScheme))
	content, closed := s.sealer.Open(nil, nil, sealed, nil)
	if err := cmp.Or(err, closed); err != nil {
		return read, sessionEnded()
	}
	if err := json.Unmarshal(content, &read); err != nil || !s.Now().Before(read.Expires) {
		return read, sessionEnded()
	}
	return read, nil
}

func sessionEnded() error {
	return domain.Refuse(domain.ErrUnauthenticated, "the session has ended").WithFix("log in again")
}

// newSealer seals and opens session tokens; nil without a key.
func newSealer(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil
	}
	sealer, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil
	}
	return sealer
}
