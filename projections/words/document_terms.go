package words

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// Tokenize cuts every text of an item that a search by words may find it by into terms, and adds its sequence and its
// id. These say nothing about the length of its text.
func Tokenize(by text.Tokenizer, k *domain.Knowledge) (terms []string, words int) {
	terms, words = by.Cut(k.Text.Content + "\n\n" + k.Text.Task + "\n\n" + strings.Join(TagValues(k.Text.Tags), "\n\n"))
	if sequence := SequenceOf(k); by.Sequences && sequence != "" {
		terms = append(terms, sequence)
	}
	if by.IDs {
		whole, _ := by.Cut(k.ID)
		terms = append(terms, idTerm(k.ID))
		terms = append(terms, whole[:min(1, len(whole))]...)
		for _, word := range WordsOfID(k.ID) {
			terms = append(terms, text.TermOf(word))
		}
	}
	return terms, words
}

// idTerm is a term of the item with this id, and of no other.
func idTerm(id string) string { return "\x00id\x00" + id }

// WordsOfID are the words that somebody made an id of: "deploy" and "window" of deploy-window. Numbers and the
// digits of a generated id say nothing.
func WordsOfID(id string) []string {
	const shortest = 3
	parts := strings.FieldsFunc(strings.ToLower(id), func(r rune) bool { return strings.ContainsRune("-._~", r) })
	if len(parts) == 1 {
		return nil
	}
	return slices.DeleteFunc(parts, func(part string) bool {
		return len(part) < shortest || strings.ContainsAny(part, "0123456789")
	})
}

// SessionTag is the key of the tag that names the conversation of an item.
const SessionTag = "session"

// SequenceOf names the conversation of an item, by its tag. It is a term of the item, so that the index finds the
// others. It is empty for an item outside of conversations.
func SequenceOf(k *domain.Knowledge) string {
	if sessions := k.Text.Tags[SessionTag]; len(sessions) > 0 {
		return "\x00session\x00" + sessions[0]
	}
	return ""
}

func TagValues(tags domain.Tags) []string {
	var values []string
	for _, list := range tags {
		values = append(values, list...)
	}
	slices.Sort(values)
	return values
}

// PackedTerms are the terms of an item, sorted, in 8 bytes each: 6 of the term's hash and 2 of its count,
// big-endian. A term of a question and a term of an item collide once in 10¹² times.
type PackedTerms []byte

const packedTermBytes = 8

// HashOf is a term's hash in the index: 48 bits of FNV-1a.
func HashOf(term string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return h >> 16
}

// PackTerms packs terms, which are repeated as often as they occur. Sorting hashes takes a third of the time of
// sorting terms.
func PackTerms(terms []string) PackedTerms {
	hashes := make([]uint64, len(terms))
	for i, term := range terms {
		hashes[i] = HashOf(term)
	}
	slices.Sort(hashes)
	bytes := make(PackedTerms, 0, packedTermBytes*len(hashes))
	for len(hashes) > 0 {
		count := 1
		for count < len(hashes) && hashes[count] == hashes[0] {
			count++
		}
		bytes = binary.BigEndian.AppendUint64(bytes, hashes[0]<<16|uint64(min(count, math.MaxUint16)))
		hashes = hashes[count:]
	}
	return bytes
}

// ItemTerms are the terms of an item and how often it has each.
type ItemTerms struct {
	Words int // the length that BM25 normalises by
	PackedTerms
}

// ItemTermsOf counts the terms of an item.
func ItemTermsOf(by text.Tokenizer, k *domain.Knowledge) ItemTerms {
	terms, words := Tokenize(by, k)
	return ItemTerms{words, PackTerms(terms)}
}

// Hashes are the hashes of the terms, as the index has them.
func (p PackedTerms) Hashes() []int64 {
	hashes := make([]int64, 0, len(p)/packedTermBytes)
	p.Each(func(hash uint64, _ int) { hashes = append(hashes, int64(hash)) })
	return hashes
}

// Count is how often the term with this hash occurs.
func (p PackedTerms) Count(hash uint64) int {
	low, high := 0, len(p)/packedTermBytes
	for low < high {
		middle := (low + high) / 2
		entry := binary.BigEndian.Uint64(p[middle*packedTermBytes:])
		switch {
		case entry>>16 == hash:
			return int(entry & math.MaxUint16)
		case entry>>16 < hash:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0
}

// Each calls yield with every term's hash and count.
func (p PackedTerms) Each(yield func(hash uint64, count int)) {
	for ; len(p) >= packedTermBytes; p = p[packedTermBytes:] {
		entry := binary.BigEndian.Uint64(p)
		yield(entry>>16, int(entry&math.MaxUint16))
	}
}
