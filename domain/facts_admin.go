package domain

import "time"

// ErasureOrdered began to erase many things.
type ErasureOrdered struct {
	Of          string `data:"of"`
	WithLineage bool   `data:"with_lineage,omitempty"`
	KeepShared  bool   `data:"keep_shared,omitempty"`
	KeepAccess  bool   `data:"keep_access,omitempty"`
	Role        Role   `data:"role"`
	ReasonCode  string `data:"reason_code"`
	LegalBasis  string `data:"legal_basis,omitempty"`
	RequestedBy string `data:"requested_by,omitempty"`
	Ticket      string `data:"ticket,omitempty"`
}

// ErasureCompleted says that an order has no work left. Refused targets remain.
type ErasureCompleted struct {
	Erased    int64     `data:"erased"`               // streams
	NotErased int64     `data:"not_erased,omitempty"` // streams that were refused
	Refused   []Refused `data:"refused,omitempty"`    // the first of those
}

// TenantErased says that all texts of a tenant were erased.
type TenantErased struct{}

func (ErasureOrdered) Name() string   { return "erasure.ordered" }
func (ErasureCompleted) Name() string { return "erasure.completed" }
func (TenantErased) Name() string     { return "tenant.erased" }

// KeyCreated issued an API key. Only a hash of the key is recorded.
type KeyCreated struct {
	Hash          string    `data:"hash"` // SHA-256 of the whole key, in hexadecimal
	Subject       Entity    `data:"subject"`
	Memberships   []Entity  `data:"memberships,omitempty"`
	Role          Role      `data:"role"`
	ActsFor       bool      `data:"acts_for,omitempty"`       // may act on another entity's behalf
	ActsForOnly   []Entity  `data:"acts_for_only,omitempty"`  // on whose behalf; empty for everyone's
	PublishPublic bool      `data:"publish_public,omitempty"` // may write to the public scope
	ExpiresAt     time.Time `data:"expires_at,omitzero"`
	Replaces      string    `data:"replaces,omitempty"`   // the prefix of the key that this one replaces
	Invitation    bool      `data:"invitation,omitempty"` // it does nothing but let its holder exchange it for a key
	Note          string    `text:"note,omitempty"`       // what it is for
}

// KeyRotated let another key replace this one, which stays valid for a while.
type KeyRotated struct {
	By    string    `data:"by"` // the other key's prefix
	Until time.Time `data:"until"`
}

// KeyRevoked revoked a key at once.
type KeyRevoked struct {
	Reason string `text:"reason,omitempty"`
}

// KeyRoleChanged gave a key another role.
type KeyRoleChanged struct {
	Role Role `data:"role"`
}

func (KeyCreated) Name() string     { return "key.created" }
func (KeyRotated) Name() string     { return "key.rotated" }
func (KeyRevoked) Name() string     { return "key.revoked" }
func (KeyRoleChanged) Name() string { return "key.role_changed" }

// MemberAdded added a user, an agent or a group to the directory.
type MemberAdded struct {
	Member      Entity `data:"member"`
	DisplayName string `text:"display_name,omitempty"`
	ExternalID  string `text:"external_id,omitempty"` // by which an identity provider knows it
	UserName    string `text:"user_name,omitempty"`   // by which an identity provider calls it, if that is not the id
}

// MemberRenamed gave a member another display name, external id or user name.
type MemberRenamed struct {
	DisplayName string `text:"display_name"`
	ExternalID  string `text:"external_id,omitempty"`
	UserName    string `text:"user_name,omitempty"`
}

// MemberDeactivated ended what a member may do, and what its membership of groups lets it read.
type MemberDeactivated struct {
	Reason string `text:"reason,omitempty"`
}

// MemberReactivated ended a deactivation. Keys that were revoked stay revoked.
type MemberReactivated struct {
	Reason string `text:"reason,omitempty"`
}

// MemberJoined made a member part of a group, or changed its role there.
type MemberJoined struct {
	Group Entity    `data:"group"`
	Role  GroupRole `data:"role"`
}

// MemberLeft ended a member's part in a group.
type MemberLeft struct {
	Group  Entity `data:"group"`
	Reason string `text:"reason,omitempty"`
}

func (MemberAdded) Name() string       { return "directory.added" }
func (MemberRenamed) Name() string     { return "directory.renamed" }
func (MemberDeactivated) Name() string { return "directory.deactivated" }
func (MemberReactivated) Name() string { return "directory.reactivated" }
func (MemberJoined) Name() string      { return "directory.joined" }
func (MemberLeft) Name() string        { return "directory.left" }

// PolicySet said how often the items of a scope and a type are verified, and by whom, and what needs approval. It
// replaced the policy of the same scope and type.
type PolicySet struct {
	Scope     Scope  `data:"scope,omitempty"` // empty for all
	Type      Type   `data:"type,omitempty"`  // empty for all
	EveryDays int    `data:"every_days"`      // 0 for never
	Verifier  Entity `data:"verifier,omitempty"`

	Approve []Trust `data:"approve,omitempty"` // what these classes write is proposed
}

// PolicyRemoved removed the policy of a scope and a type.
type PolicyRemoved struct {
	Scope Scope `data:"scope,omitempty"`
	Type  Type  `data:"type,omitempty"`
}

func (PolicySet) Name() string     { return "verification.policy_set" }
func (PolicyRemoved) Name() string { return "verification.policy_removed" }

// ReviewProposed proposed to review items together.
type ReviewProposed struct {
	Kind   ProposalKind `data:"kind"`
	Items  []string     `data:"items"` // ids, sorted
	Score  float64      `data:"score,omitempty"`
	Rule   string       `data:"rule,omitempty"` // by which a program judged
	By     Entity       `data:"by"`
	Reason string       `text:"reason,omitempty"`
}

// ReviewClosed closed a proposal.
type ReviewClosed struct {
	Outcome Outcome `data:"outcome"`
	Reason  string  `text:"reason,omitempty"`
}

func (ReviewProposed) Name() string { return "review.proposed" }
func (ReviewClosed) Name() string   { return "review.closed" }

// SubscriptionCreated began to deliver events to a subscriber.
type SubscriptionCreated struct {
	Subscriber     Entity   `data:"subscriber"`
	By             Entity   `data:"by,omitempty"`   // who acted for the subscriber; empty for themselves
	Authentication string   `data:"authentication"` // whose rights count, besides those of the directory
	Follows        string   `data:"follows"`        // scope, item, tag or query
	Scope          Scope    `data:"scope,omitempty"`
	Item           string   `data:"item,omitempty"`
	Events         []string `data:"events"` // the words of SubscribedEvents
	Webhook        bool     `data:"webhook,omitempty"`
	Tag            string   `text:"tag,omitempty"`
	Query          string   `text:"query,omitempty"`
	URL            string   `text:"url,omitempty"`
	Note           string   `text:"note,omitempty"`
}

// SubscriptionPaused stopped the deliveries of a subscription for a time.
type SubscriptionPaused struct {
	Cause  string `data:"cause"` // asked or rights
	Reason string `text:"reason,omitempty"`
}

// SubscriptionResumed ended a pause.
type SubscriptionResumed struct{}

// SubscriptionRotated replaced the secret of a webhook. The secret is not recorded.
type SubscriptionRotated struct{}

// SubscriptionEnded stopped the deliveries of a subscription for good.
type SubscriptionEnded struct {
	Cause  string `data:"cause"` // asked, gone or erased
	Reason string `text:"reason,omitempty"`
}

func (SubscriptionCreated) Name() string { return "subscription.created" }
func (SubscriptionPaused) Name() string  { return "subscription.paused" }
func (SubscriptionResumed) Name() string { return "subscription.resumed" }
func (SubscriptionRotated) Name() string { return "subscription.secret_rotated" }
func (SubscriptionEnded) Name() string   { return "subscription.ended" }

// TenantCreated created a tenant.
type TenantCreated struct{}

func (TenantCreated) Name() string { return "tenant.created" }

// ScrubbingChanged replaced all scrubbing rules of a tenant.
type ScrubbingChanged struct{ Rules Scrubbing }

func (ScrubbingChanged) Name() string { return "tenant.scrubbing_changed" }

// LearningChanged changed for whom lessons about work are. It is also the state of [LearningStream].
type LearningChanged struct {
	LearnedFor LearnedFor `data:"learned_for" json:"learned_for,omitempty"` // empty in the state if it was never set
}

func (LearningChanged) Name() string { return "tenant.learning_changed" }

// ProjectionStarted began to build a new version of a projection beside the active one.
type ProjectionStarted struct {
	Version  int               `data:"version"`
	Settings map[string]string `data:"settings,omitempty"` // what it is built with
	Items    int64             `data:"items"`              // how many there were
}

// ProjectionLoaded says that a version contains the log as of the start of the rebuild.
type ProjectionLoaded struct {
	Version int           `data:"version"`
	Streams int64         `data:"streams"` // folded
	Events  int64         `data:"events"`  // the events of those streams
	Took    time.Duration `data:"seconds"`
}

// ProjectionCaughtUp says that a version contains the whole log. From now on, every append writes to it.
type ProjectionCaughtUp struct {
	Version int           `data:"version"`
	Took    time.Duration `data:"seconds"`
}

// ProjectionVerified says that a version matches the log, and differs from the active version only as intended.
type ProjectionVerified struct{ VerificationResult }

// ProjectionRefused says that a version failed its verification and was abandoned.
type ProjectionRefused struct{ VerificationResult }

// VerificationResult summarises a verification.
type VerificationResult struct {
	Version  int              `data:"version"`
	Against  int              `data:"against"` // the active version
	Items    int64            `data:"items"`
	Wrong    int              `data:"deviations"`         // rows that do not match the log, as far as the report has them
	Changed  map[string]int64 `data:"changed,omitempty"`  // items that differ, by column
	Intended []string         `data:"intended,omitempty"` // columns that were meant to differ
	Overlap  float64          `data:"overlap"`            // 0…1, of the first ten hits
	Searches int              `data:"searches"`
	Took     time.Duration    `data:"seconds"`
}

// ProjectionSwitched made a version the active one.
type ProjectionSwitched struct {
	Version int `data:"version"`
	From    int `data:"from"` // the version that was active before; it is kept
}

// ProjectionRolledBack made a kept version the active one again.
type ProjectionRolledBack struct {
	Version int `data:"version"`
	From    int `data:"from"` // the version that was active before; it is kept
}

// ProjectionCancelled says that an operator cancelled the build of a version.
type ProjectionCancelled struct {
	Version int `data:"version"`
}

// ProjectionFailed says that a version could not be built, or could no longer be written.
type ProjectionFailed struct {
	Version int    `data:"version"`
	Reason  string `text:"reason,omitempty"`
}

// ProjectionRetired says that a version was deleted: a rollback to it is no longer possible.
type ProjectionRetired struct {
	Version int    `data:"version"`
	Reason  string `text:"reason,omitempty"` // empty if an operator asked for it
}

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

// ReceiptsSealed says which receipts a run gave in a time, so that a receipt that is changed, removed or added later
// is found. Numbers are sequence numbers of the run.
type ReceiptsSealed struct {
	First int64    `data:"first"`
	Last  int64    `data:"last"`
	Count int64    `data:"count"`
	Lost  []string `data:"lost,omitempty"` // ranges of numbers that were not written, such as 7 or 9-12
	Root  []byte   `data:"root"`           // of the Merkle tree over the receipts, in the order of their numbers
	Marks []byte   `data:"marks"`          // the first [SealMark] bytes of each leaf
}

func (ReceiptsSealed) Name() string { return "receipts.sealed" }

// ContainmentApplied quarantined items, in the same transaction. What follows it in the log and names it as the cause
// are the facts about the items.
type ContainmentApplied struct {
	Items   int              `data:"items"`             // that were quarantined
	Votes   int              `data:"votes,omitempty"`   // that do not count any more
	Revived int              `data:"revived,omitempty"` // items whose place the quarantined ones had taken
	Scopes  []ContainedScope `data:"scopes,omitempty"`
	Named   []string         `data:"named,omitempty"` // ids of the items that the caller named
	Actor   Entity           `data:"actor,omitempty"`
	Session string           `data:"session,omitempty"`
	Since   time.Time        `data:"since,omitzero"`
	Source  string           `text:"source,omitempty"`
	Reason  string           `text:"reason,omitempty"`
}

// ContainedScope counts the quarantined items of a scope.
type ContainedScope struct {
	Scope Scope `data:"scope" json:"scope"`
	Items int   `data:"items" json:"items"`
}

// ContainmentUndone readmitted what was still quarantined, in the same transaction.
type ContainmentUndone struct {
	Reason string `text:"reason,omitempty"`
}

func (ContainmentApplied) Name() string { return "containment.applied" }
func (ContainmentUndone) Name() string  { return "containment.undone" }
