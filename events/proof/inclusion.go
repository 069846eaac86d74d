package proof

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
)

// Certificate is an inclusion proof as a file: the answer of GET /v1/log/proof/{event_id}.
type Certificate struct {
	EventID    string   `json:"event_id"`
	Stream     string   `json:"stream"`
	Position   int64    `json:"position"`
	Hash       string   `json:"hash"`           // hexadecimal
	Leaf       string   `json:"leaf,omitempty"` // base64; of a rewritten event: the leaf that was signed
	Record     *line    `json:"record,omitempty"`
	Path       []string `json:"path"` // base64
	Checkpoint struct {
		Origin string `json:"origin"`
		Size   *int64 `json:"size"`
		Root   string `json:"root"` // base64
		Note   string `json:"note"` // what was signed
	} `json:"checkpoint"`
}

// Check verifies a certificate with public keys. The error says what is wrong with it.
func (c Certificate) Check(keys ...string) (domain.Checkpoint, error) {
	checkpoint, err := Open(c.Checkpoint.Note, keys...)
	if err != nil {
		return checkpoint, err
	}
	if err := c.repeats(checkpoint); err != nil {
		return checkpoint, err
	}
	hash, err := hex.DecodeString(c.Hash)
	if err != nil || len(hash) != tlog.HashSize {
		return checkpoint, errors.New("the hash is none of SHA-256 in hexadecimal")
	}
	path, err := hashesOf(c.Path)
	if err != nil {
		return checkpoint, err
	}
	if c.Record != nil {
		if err := c.matches(hash); err != nil {
			return checkpoint, err
		}
	}
	if c.Leaf != "" && c.Leaf != tlog.RecordHash(hash).String() {
		return checkpoint, fmt.Errorf("the event at position %d was rewritten: it is not the one that was signed", c.Position)
	}
	if tlog.CheckRecord(path, checkpoint.Size, tlog.Hash(checkpoint.Root), c.Position-1, tlog.RecordHash(hash)) != nil {
		return checkpoint, fmt.Errorf(
			"the proof is wrong: no event with this hash is at position %d of the log that was signed", c.Position)
	}
	return checkpoint, nil
}

// matches reports a record that does not have the hash.
func (c Certificate) matches(hash []byte) error {
	var s stored
	if err := c.Record.stored(&s); err != nil {
		return errors.New("the record cannot be read")
	}
	var one chunk
	s.hash = field{bytes: hash, present: true}
	one.add(&s)
	switch one.examine(); one.records[0].kind {
	case Hash:
		return errors.New("the record is another than the one with this hash")
	case Text:
		return errors.New(one.records[0].fault)
	}
	for _, claim := range []struct{ name, outside, inside string }{
		{"event_id", c.EventID, c.Record.EventID},
		{"stream", c.Stream, c.Record.Stream},
		{"hash", strings.ToLower(c.Hash), strings.ToLower(cmp.Or(c.Record.Hash, c.Hash))}, // of the record it is computed
	} {
		if claim.outside != "" && claim.outside != claim.inside {
			return fmt.Errorf("%s is another than that of the record, which is %s", claim.name, claim.inside)
		}
	}
	return nil
}

// repeats refuses a certificate whose plain fields differ from the signed checkpoint, for readers that do not parse
// notes.
func (c Certificate) repeats(signed domain.Checkpoint) error {
	checkpoint, tenant := c.Checkpoint, signed.Origin[strings.LastIndexByte(signed.Origin, '/')+1:]
	switch {
	case checkpoint.Origin != "" && checkpoint.Origin != signed.Origin:
		return fmt.Errorf("the checkpoint's origin is not what was signed, which is %s", signed.Origin)
	case checkpoint.Size != nil && *checkpoint.Size != signed.Size:
		return fmt.Errorf("the checkpoint's size is not what was signed, which is %d", signed.Size)
	case checkpoint.Root != "" && checkpoint.Root != base64.StdEncoding.EncodeToString(signed.Root[:]):
		return errors.New("the checkpoint's root is not what was signed")
	case c.Record != nil && c.Record.Tenant != tenant:
		return fmt.Errorf("the record is of another tenant than the checkpoint, which is of %s", tenant)
	}
	return nil
}

// Says describes the record: what happened, to what, who did it and when, and its fields as JSON, with those of its
// text on a line of their own. It is empty if the certificate has no record. It is only as reliable as the result of
// [Certificate.Check].
func (c Certificate) Says() (what, fields string) {
	r := c.Record
	if r == nil {
		return "", ""
	}
	if fields = r.Data; r.Text != nil {
		fields += "\n" + *r.Text
	}
	by := r.Actor
	if r.OnBehalfOf != nil {
		by += " for " + *r.OnBehalfOf
	}
	return fmt.Sprintf("%s of %s by %s at %s", r.Name, r.Stream, by, r.RecordedAt), fields
}

func hashesOf(texts []string) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(texts))
	for i, text := range texts {
		hash, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil || len(hash) != tlog.HashSize {
			return nil, errors.New("the proof is damaged: a hash of its path is none")
		}
		hashes[i] = tlog.Hash(hash)
	}
	return hashes, nil
}
