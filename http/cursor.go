package http

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/annals-kb/annals/domain"
)

// A cursor says where the following page begins. It is base64url of the place, 8 bytes, and of
// the first 8 bytes of a SHA-256 over the place and the question that was asked: so it is of
// use for that question only. It is no secret, and keeps none.
const cursorBytes = 16

// cursor is empty at the end.
func cursor(place int64, question any) string {
	if place == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(placeBytes(place), sealOf(place, question)...))
}

const notItsCursor = "does not belong to this question: send next_cursor as it came, with the same filters, or begin without"

// placeOf reads a cursor: 0 without one, a refusal if it came from another question.
func placeOf(given string, question any) (int64, error) {
	if given == "" {
		return 0, nil
	}
	place, seal := unseal(given)
	if place > 0 && bytes.Equal(seal, sealOf(place, question)) {
		return place, nil
	}
	var p domain.Problems
	p.Add("cursor", notItsCursor)
	return 0, p.Err()
}

// isCursor tells whether it may be one, of whichever question.
func isCursor(given string) bool {
	place, _ := unseal(given)
	return given == "" || place > 0
}

// unseal takes a cursor apart: 0 for what is none.
func unseal(given string) (place int64, seal []byte) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(given)
	if err != nil || len(raw) != cursorBytes {
		return 0, nil
	}
	return int64(binary.BigEndian.Uint64(raw)), raw[8:]
}

func placeBytes(place int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(place))
}

func sealOf(place int64, question any) []byte {
	asked, _ := json.Marshal(question) // questions are plain structs
	sum := sha256.Sum256(append(placeBytes(place), asked...))
	return sum[:8]
}
