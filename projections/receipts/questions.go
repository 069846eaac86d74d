package receipts

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// The texts of a page are its questions, apart from the receipts, so that they can be erased: the byte 01 and a zstd
// frame with, for each question, the number of its receipt as the difference from that before, its salt, its length and
// its bytes.

const saltSize = 16

// seal gives the question its salt and digest.
func (q *Question) seal() {
	if q.Text == "" || q.Salt != nil {
		return
	}
	q.Salt = make([]byte, saltSize)
	_, _ = rand.Read(q.Salt) // never fails
	q.Digest = q.digest()
}

func (q *Question) digest() Digest {
	sum := sha256.Sum256(append(slices.Clone(q.Salt), q.Text...))
	return Digest(sum[:digestSize])
}

// encodeQuestions are the texts of a page; nil if there are none.
func encodeQuestions(all []*Receipt) []byte {
	var plain []byte
	last := int64(0)
	for _, r := range all {
		if r.Question.Salt == nil {
			continue
		}
		plain = binary.AppendUvarint(plain, uint64(r.Sequence-last))
		plain = append(plain, r.Question.Salt...)
		plain = append(binary.AppendUvarint(plain, uint64(len(r.Question.Text))), r.Question.Text...)
		last = r.Sequence
	}
	if plain == nil {
		return nil
	}
	return compressed(plain)
}

// decodeQuestions puts the texts of a page into its receipts.
func decodeQuestions(texts []byte, all []*Receipt) error {
	if len(texts) == 0 {
		return nil
	}
	plain, err := expanded(texts)
	if err != nil {
		return err
	}
	bySequence := make(map[int64]*Receipt, len(all))
	for _, r := range all {
		bySequence[r.Sequence] = r
	}
	in := &input{left: plain}
	for sequence := int64(0); len(in.left) > 0; {
		sequence += int64(in.uvarint())
		salt := slices.Clone(in.bytes(saltSize))
		text := string(in.bytes(uint64(in.count())))
		if in.err != nil {
			return in.err
		}
		if r := bySequence[sequence]; r != nil {
			r.Question.Salt, r.Question.Text = salt, text
		}
	}
	return nil
}
