package words

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// Entry is what the index has of an item: its terms, and the sets that it is in.
type Entry struct {
	ItemTerms
	Sets
}

// Sets are the keys of sets, in 8 bytes each, big-endian.
type Sets []byte

// The kinds of sets. A set's key is its kind and the hash of its value; the keys below are hashes of terms.
const (
	ofAll uint64 = (iota + 1) << hashBits
	ofScope
	ofTier
	ofStatus
	ofType
	ofContextType
	ofCategory
	ofOwner
	ofVisibility
	ofPolarity
	ofTagKey
	ofTag
	ofOthers // items that are no archives
)

const hashBits = 48

func keyOf[T ~string](kind uint64, value T) uint64 { return kind | HashOf(string(value)) }

func tagKey(name, value string) uint64 { return keyOf(ofTag, name+"\x00"+value) }

// EntryOf is the entry of an item that answers may contain.
func EntryOf(by text.Tokenizer, k *domain.Knowledge) Entry {
	return Entry{ItemTermsOf(by, k), SetsOf(k)}
}

// SetsOf are the sets that an item is in.
func SetsOf(k *domain.Knowledge) Sets {
	keys := []uint64{
		ofAll, keyOf(ofStatus, k.Status), keyOf(ofType, k.Type), keyOf(ofContextType, k.ContextType),
		keyOf(ofCategory, k.Category), keyOf(ofOwner, k.Owner), keyOf(ofVisibility, k.Visibility()),
		keyOf(ofPolarity, k.Polarity),
	}
	if !domain.IsArchive(k.ID) {
		keys = append(keys, ofOthers)
	}
	for _, scope := range k.Scopes {
		keys = append(keys, keyOf(ofScope, scope), ofTier|uint64(scope.Tier()))
	}
	for _, name := range slices.Sorted(maps.Keys(k.Text.Tags)) {
		keys = append(keys, keyOf(ofTagKey, name))
		for _, value := range k.Text.Tags[name] {
			keys = append(keys, tagKey(name, value))
		}
	}
	slices.Sort(keys)
	var sets Sets
	for _, key := range slices.Compact(keys) {
		sets = binary.BigEndian.AppendUint64(sets, key)
	}
	return sets
}

// EachKey calls yield with every key.
func (s Sets) EachKey(yield func(key uint64)) {
	for ; len(s) >= 8; s = s[8:] {
		yield(binary.BigEndian.Uint64(s))
	}
}

// Encode writes an entry: the length in words, the number of sets, their keys, and the terms.
func (e Entry) Encode() []byte {
	data := binary.AppendUvarint(make([]byte, 0, 8+len(e.Sets)+len(e.PackedTerms)), uint64(e.Words))
	data = binary.AppendUvarint(data, uint64(len(e.Sets)/8))
	return append(append(data, e.Sets...), e.PackedTerms...)
}

var errEntry = errors.New("an entry of the index of words cannot be read")

// decodeEntry reads an entry, which keeps the bytes. Without bytes, the item is not in the index.
func decodeEntry(data []byte) (*Entry, error) {
	if len(data) == 0 {
		return nil, nil
	}
	words, n := binary.Uvarint(data)
	sets, m := binary.Uvarint(data[max(0, n):])
	if n <= 0 || m <= 0 || uint64(len(data)-n-m) < 8*sets {
		return nil, errEntry
	}
	rest := data[n+m:]
	return &Entry{ItemTerms{int(words), PackedTerms(rest[8*sets:])}, Sets(rest[:8*sets])}, nil
}
