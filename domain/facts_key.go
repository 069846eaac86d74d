package domain

import "time"

// KeyCreated gave somebody a key to the API. Of the key itself only a hash is recorded.
type KeyCreated struct {
	Hash          string // SHA-256 of the whole key, in hexadecimal
	Subject       Entity
	Memberships   []Entity
	Role          Role
	ActsFor       bool // may act on somebody's behalf
	PublishPublic bool // may write to the public scope
	ExpiresAt     time.Time
	Replaces      string // the prefix of the key that this one takes the place of
	Note          string // what it is for
}

// KeyRotated let another key take this one's place: this one still opens for a while.
type KeyRotated struct {
	By    string // the other key's prefix
	Until time.Time
}

// KeyRevoked took a key back, at once.
type KeyRevoked struct{ Reason string }

// KeyRoleChanged let a key allow more, or less, from then on.
type KeyRoleChanged struct{ Role Role }

// Name implements [Fact].
func (KeyCreated) Name() string     { return "key.created" }
func (KeyRotated) Name() string     { return "key.rotated" }
func (KeyRevoked) Name() string     { return "key.revoked" }
func (KeyRoleChanged) Name() string { return "key.role_changed" }
