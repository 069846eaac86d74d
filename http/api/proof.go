package api

import (
	"encoding/json"
)

// LogKey is the public key.
type LogKey struct {
	Key string `json:"key" example:"annals+6d1a0b3c+AfK…" doc:"NAME+HASH+KEY, as notes are verified with: an Ed25519 key in base64 after the byte 01."`
}

// Checkpoint is a signed checkpoint of the log.
type Checkpoint struct {
	Origin string `json:"origin" example:"annals/default" doc:"Which log: the key's name and the tenant."`
	Size   int64  `json:"size" doc:"How many events it has: the position of the last one."`
	Root   string `json:"root" doc:"Of the Merkle tree (RFC 6962) over their hashes, in base64."`
	Note   string `json:"note" doc:"All of this as a signed note. This is what to keep."`
}

// Inclusion proves that an event is in the log.
type Inclusion struct {
	EventID    string          `json:"event_id"`
	Stream     string          `json:"stream" example:"knowledge:profile_001"`
	Position   int64           `json:"position" doc:"In the log; the leaf's number is one less."`
	Hash       string          `json:"hash" doc:"Of the record, in hexadecimal: the leaf's data are its 32 bytes."`
	Leaf       string          `json:"leaf,omitempty" doc:"The leaf that was signed, in base64, if it is not that of hash: then the event was rewritten, with its hash, and the path proves what it was."`
	Record     json.RawMessage `json:"record" doc:"All that is hashed, as a line of an export. In a report, for auditors and admins, with its text."`
	Path       []string        `json:"path" doc:"Hashes in base64, from the leaf's neighbour upwards."`
	Checkpoint Checkpoint      `json:"checkpoint"`
}

// Consistency proves that a log continues an earlier one.
type Consistency struct {
	From     int64    `json:"from"`
	To       int64    `json:"to"`
	FromRoot string   `json:"from_root" doc:"Compare it with that of the checkpoint that you kept."`
	ToRoot   string   `json:"to_root"`
	Path     []string `json:"path" doc:"Hashes in base64, as RFC 6962 has them."`
}

// Protection is a mechanism that keeps the log from being changed.
type Protection struct {
	Name   string `json:"name" example:"triggers"`
	Stands bool   `json:"stands"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Protections are the protections of the log.
type Protections struct {
	Items []Protection `json:"items" nullable:"false"`
}
