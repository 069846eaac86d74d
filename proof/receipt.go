package proof

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Receipt is what a write was answered with, of one event. Position and hash are empty if only the id is known.
type Receipt struct {
	EventID  string
	Position int64
	Hash     string // hexadecimal
}

// ParseReceipt reads an id, a position and a hash.
func ParseReceipt(words []string) (r Receipt, err error) {
	if len(words) != 3 {
		return r, errors.New("a receipt is an id, a position and a hash")
	}
	r.EventID, r.Hash = words[0], strings.ToLower(words[2])
	if r.Position, err = strconv.ParseInt(words[1], 10, 64); err != nil || r.Position < 1 {
		return r, errors.New("the receipt's position is none")
	}
	if _, err := hex.DecodeString(r.Hash); err != nil {
		return r, errors.New("the receipt's hash is none")
	}
	return r, nil
}

// Check refuses a proof that is of another event than the receipt's, or of one that was not what it is. The proof
// itself is verified by [Certificate.Check].
func (r Receipt) Check(c Certificate) error {
	switch {
	case c.EventID != r.EventID, c.Record != nil && c.Record.EventID != r.EventID:
		return fmt.Errorf("the proof is of another event than %s", r.EventID)
	case r.Hash == "":
		return nil
	case c.Position != r.Position:
		return fmt.Errorf("the receipt says position %d, and the event is at %d", r.Position, c.Position)
	case !strings.EqualFold(c.Hash, r.Hash):
		return fmt.Errorf("at position %d is another record than the one of which the receipt has the hash", r.Position)
	}
	return nil
}
