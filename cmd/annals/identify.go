package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"github.com/google/uuid"
)

// identified gives a record without an id one that follows from what it says and who says it, so
// that sending it again changes nothing. Whatever has an id, or is no object, stays as it is.
func identified(raw []byte, who string) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return raw
	}
	if saysID(raw) {
		return raw
	}
	var said bytes.Buffer
	said.WriteString(who)
	said.WriteByte('\n')
	_ = json.Compact(&said, raw) // it was read above
	const version = 8            // "custom" in RFC 9562
	id := uuid.NewHash(sha256.New(), uuid.Nil, said.Bytes(), version)
	return begun(raw, "id", id.String())
}

// saysID tells whether a record has an id of its own.
func saysID(raw []byte) bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // what is no object has none
	_, says := fields["id"]
	return says
}

// trimmed is JSON without the spaces before it.
func trimmed(raw []byte) []byte { return bytes.TrimLeft(raw, " \t\r\n") }
