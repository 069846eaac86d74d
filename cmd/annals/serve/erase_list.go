package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// Erasure is a line of a list of erasures, which a restored backup may lack. The list also has keys that were
// revoked, rotated or given another role.
type Erasure struct {
	Tenant      string      `json:"tenant"`
	Stream      string      `json:"stream"`
	EventID     string      `json:"event_id"`
	RecordedAt  time.Time   `json:"recorded_at,omitzero"`
	Revoked     bool        `json:"revoked,omitempty"` // the stream is a revoked key
	ReplacedBy  string      `json:"replaced_by,omitempty"`
	Until       time.Time   `json:"until,omitzero"` // the stream is a rotated key that was valid until then
	Role        domain.Role `json:"role,omitempty"` // the stream is a key that had this role from then on
	ReasonCode  string      `json:"reason_code,omitempty"`
	LegalBasis  string      `json:"legal_basis,omitempty"`
	RequestedBy string      `json:"requested_by,omitempty"`
	Ticket      string      `json:"ticket,omitempty"`
}

const (
	Revocation = "key.revoked"
	Rotation   = "key.rotated"
	RoleChange = "key.role_changed"
)

// OfKey is the name of an event of a key; empty if the line is an erasure.
func (e Erasure) OfKey() string {
	switch {
	case e.Revoked:
		return Revocation
	case !e.Until.IsZero():
		return Rotation
	case e.Role != "":
		return RoleChange
	}
	return ""
}

// submission tells who repeats the erasure, and its cause.
func (e Erasure) submission() domain.Submission {
	by := domain.SystemPrincipal()
	by.Tenant = e.Tenant
	return domain.Submission{By: by, Origin: domain.Origin{CausationID: e.EventID}}
}

func (e Erasure) reason() domain.ErasureReason {
	return domain.ErasureReason{
		ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy,
		Ticket: e.Ticket,
	}
}

// ListEnd is the last line of a list: how many lines come before it, and their SHA-256. A list without it was cut.
type ListEnd struct {
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256"`
}

// ErasuresIn reads a whole list, or several one after the other, before any of it is applied; nil without a name. It
// refuses a list that was cut.
func ErasuresIn(name string) ([]Erasure, error) {
	if name == "" {
		return nil, nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, terminal.Wrong(whichList, "the list of erasures cannot be read: %s", err)
	}
	list, lines, digest, ended := []Erasure{}, 0, sha256.New(), false
	for written := range bytes.Lines(content) {
		var end ListEnd
		if ended = strictly(written, &end) == nil; ended {
			if end != (ListEnd{lines, hex.EncodeToString(digest.Sum(nil))}) {
				return nil, cutList(len(list))
			}
			lines = 0
			digest.Reset()
			continue
		}
		line, is := erasureOf(written)
		if !is {
			return nil, terminal.Wrong(whichList, "line %d of the list of erasures cannot be read", len(list)+1)
		}
		list, lines = append(list, line), lines+1
		digest.Write(written)
	}
	if !ended {
		return nil, cutList(len(list))
	}
	return list, nil
}

func cutList(lines int) error {
	return terminal.Wrong("write it again with annals erase --export-list, or take another copy",
		"the list of erasures was cut or changed: after line %d it does not state its lines and their digest", lines)
}

func strictly(written []byte, into any) error {
	strict := json.NewDecoder(bytes.NewReader(written))
	strict.DisallowUnknownFields()
	return strict.Decode(into)
}

// lastOfEach keeps the last erasure of each stream: a session may be created and erased again.
func lastOfEach(list []Erasure) []Erasure {
	thingOf := func(line Erasure) [3]string { return [3]string{line.Tenant, line.Stream, line.OfKey()} }
	last := map[[3]string]int{}
	for i, line := range list {
		of := thingOf(line)
		if before, named := last[of]; !named || !line.RecordedAt.Before(list[before].RecordedAt) {
			last[of] = i
		}
	}
	var left []Erasure
	for i, line := range list {
		if last[thingOf(line)] == i {
			left = append(left, line)
		}
	}
	return left
}

const whichList = "it is the file that annals erase --export-list has written"

// erasureOf parses a line of a list. It refuses unknown fields, since a line of another file, such as an export of
// the log, also names a stream and must not cause an erasure.
func erasureOf(written []byte) (line Erasure, is bool) {
	err := strictly(written, &line)
	return line, err == nil && line.Stream != "" && line.Tenant != "" &&
		(line.Role == "" || slices.Contains(domain.Roles, line.Role))
}
