package receipts

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// The keys of a page are hashes of what its receipts are about, sorted, as varints of their differences. A list leaves
// out pages without the keys that it asks for. A key has 32 bits, so a page may have a key without such a receipt.

func keyOf(kind, value string) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(kind + ":" + value))
	return hash.Sum32()
}

func itemKey(number int64) uint32 { return keyOf("item", strconv.FormatInt(number, 10)) }

// keys are the keys of a receipt. Entities have one key as the caller and on whose behalf it acts.
func (r *Receipt) keys(all []uint32) []uint32 {
	for _, e := range []domain.Entity{r.Caller, r.OnBehalfOf} {
		if e != "" {
			all = append(all, keyOf("entity", string(e)))
		}
	}
	for _, named := range [][2]string{
		{"session", r.Session},
		{"trace", r.Trace},
		{"host", hostName(r.Host)},
		{"kind", string(r.Kind)},
	} {
		if named[1] != "" {
			all = append(all, keyOf(named[0], named[1]))
		}
	}
	for _, item := range r.Items {
		all = append(all, itemKey(item.Number))
	}
	return all
}

// encodeKeys are the keys of a page.
func encodeKeys(receipts []*Receipt) []byte {
	var all []uint32
	for _, r := range receipts {
		all = r.keys(all)
	}
	slices.Sort(all)
	encoded, last := []byte{}, uint32(0)
	for _, key := range slices.Compact(all) {
		encoded = binary.AppendUvarint(encoded, uint64(key-last))
		last = key
	}
	return encoded
}

// hasKeys tells whether a page has, of each list of keys, at least one.
func hasKeys(encoded []byte, wanted [][]uint32) bool {
	found := make([]bool, len(wanted))
	for key := uint32(0); len(encoded) > 0; {
		more, n := binary.Uvarint(encoded)
		if n <= 0 {
			return true // a damaged page is read, which says so
		}
		key, encoded = key+uint32(more), encoded[n:]
		for i, any := range wanted {
			if _, is := slices.BinarySearch(any, key); is {
				found[i] = true
			}
		}
	}
	return !slices.Contains(found, false)
}

// hostName is the name of a host without its version.
func hostName(host string) string {
	name, _, _ := strings.Cut(host, "/")
	return name
}
