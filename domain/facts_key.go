package domain

import "time"

// KeyCreated gave somebody a key to the API. Of the key itself only a hash is recorded.
type KeyCreated struct {
	Hash          string    `data:"hash"` // SHA-256 of the whole key, in hexadecimal
	Subject       Entity    `data:"subject"`
	Memberships   []Entity  `data:"memberships,omitempty"`
	Role          Role      `data:"role"`
	ActsFor       bool      `data:"acts_for,omitempty"`       // may act on somebody's behalf
	PublishPublic bool      `data:"publish_public,omitempty"` // may write to the public scope
	ExpiresAt     time.Time `data:"expires_at,omitzero"`
	Replaces      string    `data:"replaces,omitempty"` // the prefix of the key that this one takes the place of
	Note          string    `text:"note,omitempty"`     // what it is for
}

// KeyRotated let another key take this one's place: this one still opens for a while.
type KeyRotated struct {
	By    string    `data:"by"` // the other key's prefix
	Until time.Time `data:"until"`
}

// KeyRevoked took a key back, at once.
type KeyRevoked struct {
	Reason string `text:"reason,omitempty"`
}

// KeyRoleChanged let a key allow more, or less, from then on.
type KeyRoleChanged struct {
	Role Role `data:"role"`
}

// Name implements [Fact].
func (KeyCreated) Name() string     { return "key.created" }
func (KeyRotated) Name() string     { return "key.rotated" }
func (KeyRevoked) Name() string     { return "key.revoked" }
func (KeyRoleChanged) Name() string { return "key.role_changed" }
