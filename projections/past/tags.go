package past

import (
	"hash/fnv"

	"github.com/annals-kb/annals/domain"
)

// tagSignature is a set of tags in 63 bits: who looks for one need not look at the texts of items whose bits lack some
// of the tag's. Bits of one tag may be those of others, so that what passes is looked at. Who knows the bits can
// guess at tags: they go when texts are destroyed, and anyTags takes their place.
type tagSignature uint64

// The sign is left out: bits are compared by size.
const signatureBits = 63

// anyTags lets every tag pass.
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

// column is the signature as databases keep it.
func (s tagSignature) column() int64 { return int64(s) }
