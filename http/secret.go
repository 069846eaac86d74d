package http

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"regexp"
	"strings"
)

// A key is annals_PREFIX_SECRET: the prefix names it wherever people see it, the secret is 256 random bits.
// Of the whole, the server keeps a hash.
var keyForm = regexp.MustCompile(`^annals_([a-z2-7]{10})_[a-z2-7]{52}$`)

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewKey makes a key.
func NewKey() (prefix, key string) {
	random := make([]byte, 7+32)
	_, _ = rand.Read(random) // never fails, see crypto/rand
	prefix = lowerBase32.EncodeToString(random[:7])[:10]
	return prefix, "annals_" + prefix + "_" + lowerBase32.EncodeToString(random[7:])
}

// HashOfKey is what is kept of a key. A key is random enough to need no slower hash.
func HashOfKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// PrefixOf is the part of a key that names it; empty if it is none.
func PrefixOf(key string) string {
	if parts := keyForm.FindStringSubmatch(strings.TrimSpace(key)); parts != nil {
		return parts[1]
	}
	return ""
}
