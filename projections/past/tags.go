package past

import (
	"hash/fnv"

	"github.com/annals-kb/annals/domain"
)

// tagSignature is a set of tags in 63 bits. A search for a tag reads only texts of items that have all of the tag's
// bits, and compares their tags, because tags may share bits. The bits let an attacker guess tags, so anyTags
// replaces them when texts are destroyed.
type tagSignature uint64

// The sign bit is left out, because signatures are compared by size.
const signatureBits = 63

// anyTags passes every tag.
const anyTags = ^tagSignature(0)

func signatureOf(tags domain.Tags) (s tagSignature) {
	for key, values := range tags {
		s |= signatureOfKey(key)
		for _, value := range values {
			s |= signatureOfTag(key, value)
		}
	}
	return s
}

func signatureOfKey(key string) tagSignature {
	h := fnv.New64a()
	h.Write([]byte(key))
	return 1 << (mix64(h.Sum64()) % signatureBits)
}

// signatureOfTag has a bit for the key and two for the value under it.
func signatureOfTag(key, value string) tagSignature {
	h := fnv.New64a()
	h.Write([]byte(key))
	h.Write([]byte{0})
	h.Write([]byte(value))
	sum := mix64(h.Sum64())
	return signatureOfKey(key) | 1<<(sum%signatureBits) | 1<<((sum>>32)%signatureBits)
}

// mix64 lets every bit depend on all of a short hash: the finaliser of MurmurHash3.
func mix64(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// column is the signature as a column value.
func (s tagSignature) column() int64 { return int64(s) }
