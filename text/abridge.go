package text

import (
	"hash/fnv"
	"strconv"
	"unicode/utf8"
)

// abridge shortens a long term to its beginning and a hash of the whole, so that equal terms stay equal and different
// ones different.
func abridge(term string) string {
	const kept = 44
	hash := fnv.New64a()
	hash.Write([]byte(term)) //nolint:errcheck // a hash never fails to be written
	end := kept
	for !utf8.RuneStart(term[end]) {
		end--
	}
	return term[:end] + "#" + strconv.FormatUint(hash.Sum64(), 16)
}
