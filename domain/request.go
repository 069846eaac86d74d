package domain

import (
	"crypto/sha256"
	"encoding/binary"
)

// Request recognises a request that was made before: unique per tenant and subject.
type Request struct {
	Key         string // the caller's Idempotency-Key; bulk lines add #line
	Fingerprint Fingerprint
}

// Fingerprint tells whether two requests ask for the same, as SHA-256 digests.
type Fingerprint struct {
	Whole   [32]byte // of everything that the request says
	Outline [32]byte // of what stays known when the texts that it brought are destroyed
}

// FingerprintOf is of a request that says what is in its outline, and more.
func FingerprintOf(outline []string, more ...string) Fingerprint {
	var f Fingerprint
	hash := sha256.New()
	write := func(parts []string) {
		for _, part := range parts {
			var length [8]byte
			binary.BigEndian.PutUint64(length[:], uint64(len(part)))
			hash.Write(length[:])
			hash.Write([]byte(part))
		}
	}
	write(outline)
	hash.Sum(f.Outline[:0])
	write(more)
	hash.Sum(f.Whole[:0])
	return f
}
