package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"github.com/google/uuid"
)

// identified gives a record without an id one that follows from what it says and who says it, so
// that sending it again changes nothing. Whatever has an id, or is no object, stays as it is.
func identified(raw []byte, who string) []byte {
	members := membersOf(raw)
	if _, says := members["id"]; says || members == nil {
		return raw
	}
	var said bytes.Buffer
	said.WriteString(who)
	said.WriteByte('\n')
	_ = json.Compact(&said, raw) // it was read above
	const version = 8            // "custom" in RFC 9562
	id := uuid.NewHash(sha256.New(), uuid.Nil, said.Bytes(), version)
	return Begun(raw, "id", id.String())
}

// membersOf are those of a record; nil if it is no object.
func membersOf(raw []byte) (members map[string]json.RawMessage) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// trimmed is JSON without the spaces before it.
func trimmed(raw []byte) []byte { return bytes.TrimLeft(raw, " \t\r\n") }
