package subscriptions

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// secretScheme begins every secret, as Standard Webhooks requires.
const secretScheme = "whsec_"

// newSecret makes a secret of 32 random bytes.
func newSecret() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails, see crypto/rand
	return secretScheme + base64.StdEncoding.EncodeToString(random)
}

// Sign is the value of webhook-signature for a secret.
// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
func Sign(secret, id string, at time.Time, body []byte) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretScheme)) // of newSecret
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%d.", id, at.Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
