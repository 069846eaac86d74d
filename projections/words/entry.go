package words

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
)

// Entry is what the index has of an item: its terms, and the sets that it is in.
type Entry struct {
	ItemTerms
	Sets
}

// Sets are the keys of sets, in 8 bytes each, big-endian.
type Sets []byte

const hashBits = rows.HashBits

// SetOf is the key of the set of a kind that has the items with a value: the kind and 48 bits of SHA-256. With a
// weaker hash, whoever chooses a name could make one that counts the items of another.
func SetOf[T ~string](kind uint64, value T) uint64 {
	sum := sha256.Sum256([]byte(value))
	return kind | binary.BigEndian.Uint64(sum[:])>>(64-hashBits)
}

// SetOfScope is the key of the set of a scope. The empty scope stands for the whole tenant.
func SetOfScope(scope domain.Scope) uint64 {
	if scope == "" {
		return rows.OfAll
	}
	return SetOf(rows.OfScope, scope)
}

func tagKey(name, value string) uint64 { return SetOf(rows.OfTag, name+"\x00"+value) }

// EntryOf is the entry of an item that answers may contain.
func EntryOf(by text.Tokenizer, k *domain.Knowledge) Entry {
	return Entry{ItemTermsOf(by, k), SetsOf(k)}
}

// EachValue passes the kinds and the values of the sets that an item is in. That of a tag is its key and its value,
// with NUL between them.
func EachValue(k *domain.Knowledge, yield func(kind uint64, value string)) {
	yield(rows.OfStatus, string(k.Status))
	for _, filter := range rows.Filters {
		if filter.Set > 0 {
			yield(filter.Set, filter.WordOf(k))
		}
	}
	for _, scope := range k.Scopes {
		yield(rows.OfScope, string(scope))
	}
	for name, values := range k.Text.Tags {
		yield(rows.OfTagKey, name)
		for _, value := range values {
			yield(rows.OfTag, name+"\x00"+value)
		}
	}
}

// SetsOf are the sets that an item is in.
func SetsOf(k *domain.Knowledge) Sets {
	keys := []uint64{rows.OfAll}
	EachValue(k, func(kind uint64, value string) { keys = append(keys, SetOf(kind, value)) })
	if !domain.IsArchive(k.ID) {
		keys = append(keys, rows.OfOthers)
	}
	for _, scope := range k.Scopes {
		keys = append(keys, rows.OfTier|uint64(scope.Tier()))
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
