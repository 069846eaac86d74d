package domain

import "time"

// ErasureOrdered began to erase many things.
type ErasureOrdered struct {
	Of          string `data:"of"`
	WithLineage bool   `data:"with_lineage,omitempty"`
	Role        Role   `data:"role"`
	ReasonCode  string `data:"reason_code"`
	LegalBasis  string `data:"legal_basis,omitempty"`
	RequestedBy string `data:"requested_by,omitempty"`
	Ticket      string `data:"ticket,omitempty"`
}

// ErasureCompleted says that nothing was left to erase, but for what was refused.
type ErasureCompleted struct {
	Erased    int64     `data:"erased"`               // streams
	NotErased int64     `data:"not_erased,omitempty"` // streams that were refused
	Refused   []Refused `data:"refused,omitempty"`    // the first of those
}

// TenantErased says that everything that was written in a tenant was erased.
type TenantErased struct{}

// Name implements [Fact].
func (ErasureOrdered) Name() string   { return "erasure.ordered" }
func (ErasureCompleted) Name() string { return "erasure.completed" }
func (TenantErased) Name() string     { return "tenant.erased" }

// KeyCreated issued a key to the API. Of the key itself only a hash is recorded.
type KeyCreated struct {
	Hash          string    `data:"hash"` // SHA-256 of the whole key, in hexadecimal
	Subject       Entity    `data:"subject"`
	Memberships   []Entity  `data:"memberships,omitempty"`
	Role          Role      `data:"role"`
	ActsFor       bool      `data:"acts_for,omitempty"`       // may act on another entity's behalf
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

// TenantCreated began a tenant: one organisation's world.
type TenantCreated struct{}

// Name implements [Fact].
func (TenantCreated) Name() string { return "tenant.created" }

// ScrubbingChanged gave a tenant other rules for scrubbing: Rules are all of them.
type ScrubbingChanged struct{ Rules Scrubbing }

// Name implements [Fact].
func (ScrubbingChanged) Name() string { return "tenant.scrubbing_changed" }

// ProjectionStarted began to compute a version of a projection beside the one that is read.
type ProjectionStarted struct {
	Version  int               `data:"version"`
	Settings map[string]string `data:"settings,omitempty"` // what it is built with
	Items    int64             `data:"items"`              // that there were
}

// ProjectionLoaded says that a version has what the log said when it was begun.
type ProjectionLoaded struct {
	Version int           `data:"version"`
	Streams int64         `data:"streams"` // folded
	Events  int64         `data:"events"`  // that these consist of
	Took    time.Duration `data:"seconds"`
}

// ProjectionCaughtUp says that a version has what the log says: from here on it is written with every
// append.
type ProjectionCaughtUp struct {
	Version int           `data:"version"`
	Took    time.Duration `data:"seconds"`
}

// ProjectionVerified says that a version is what the log says and differs from the one that is read in
// nothing but what its change intends.
type ProjectionVerified struct{ VerificationResult }

// ProjectionRefused says that a version failed its verification, and was given up.
type ProjectionRefused struct{ VerificationResult }

// VerificationResult are what a verification found, in short.
type VerificationResult struct {
	Version  int              `data:"version"`
	Against  int              `data:"against"` // the version that is read
	Items    int64            `data:"items"`
	Wrong    int              `data:"deviations"`         // rows that are not what the log says; those that were kept for the report
	Changed  map[string]int64 `data:"changed,omitempty"`  // items that differ, by column
	Intended []string         `data:"intended,omitempty"` // columns that were meant to differ
	Overlap  float64          `data:"overlap"`            // 0…1, of the first ten hits
	Searches int              `data:"searches"`
	Took     time.Duration    `data:"seconds"`
}

// ProjectionSwitched let readers read a version.
type ProjectionSwitched struct {
	Version int `data:"version"`
	From    int `data:"from"` // what they read before; it is kept
}

// ProjectionRolledBack let readers read a version again that was kept.
type ProjectionRolledBack struct {
	Version int `data:"version"`
	From    int `data:"from"` // what they read before; it is kept
}

// ProjectionCancelled says that an operator cancelled a version that was being computed.
type ProjectionCancelled struct {
	Version int `data:"version"`
}

// ProjectionFailed says that a version could not be computed, or not be written any more.
type ProjectionFailed struct {
	Version int    `data:"version"`
	Reason  string `text:"reason,omitempty"`
}

// ProjectionRetired says that a version is not kept any more: there is no way back to it.
type ProjectionRetired struct {
	Version int    `data:"version"`
	Reason  string `text:"reason,omitempty"` // if it was not asked for
}

// Name implements [Fact].
func (ProjectionStarted) Name() string    { return "projection.started" }
func (ProjectionLoaded) Name() string     { return "projection.loaded" }
func (ProjectionCaughtUp) Name() string   { return "projection.caught_up" }
func (ProjectionVerified) Name() string   { return "projection.verified" }
func (ProjectionRefused) Name() string    { return "projection.refused" }
func (ProjectionSwitched) Name() string   { return "projection.switched" }
func (ProjectionRolledBack) Name() string { return "projection.rolled_back" }
func (ProjectionCancelled) Name() string  { return "projection.cancelled" }
func (ProjectionFailed) Name() string     { return "projection.failed" }
func (ProjectionRetired) Name() string    { return "projection.retired" }
