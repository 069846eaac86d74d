package events

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
)

// saltSize is the number of random bytes that keep a destroyed text from being guessed.
const saltSize = 32

// commitText commits to a text with random bytes of its own. Once those are destroyed with the text, the
// commitment says nothing about even the shortest one.
func commitText(text []byte) (salt, committed []byte) {
	salt = make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails, see crypto/rand
	return salt, commitment(salt, text)
}

// commitment is HMAC-SHA256 of the text under the salt.
func commitment(salt, text []byte) []byte {
	mac := hmac.New(sha256.New, salt)
	mac.Write(text)
	return mac.Sum(nil)
}
